import { existsSync, globSync, readFileSync } from "node:fs";

import { expect } from "chai";
import ts from "typescript";

/** A word that names do not use, because the project has another one for its meaning. */
interface Banned {
  /** The word to use. */
  instead: string;
  /** Files that may use it all the same. Only files that do: the list shrinks. */
  except: readonly string[];
}

/** What docs/architecture.md calls things: its glossary has one word for each. */
const BANNED: Record<string, Banned> = {
  watched: { instead: "foreign, follow, indexed", except: [] },
  told: {
    instead: "stored, answered, known",
    except: [
      // A field of the result of `reconcile --json`.
      "api/cli/reconcile.ts",
      "api/operate/reconcile/compare.ts",
    ],
  },
  outvote: { instead: "differ", except: [] },
  overrule: { instead: "differ", except: [] },
  dispute: { instead: "differ", except: [] },
  poison: { instead: "parked", except: [] },
  suspect: { instead: "parked, or the name of the fault", except: [] },
  room: { instead: "free, left", except: [] },
  candidate: {
    instead: "item",
    except: [],
  },
  acceptance: {
    instead: "item",
    except: [],
  },
  prepare: {
    instead: "what is done: read, plan, make, build",
    except: [
      // The word of SQLite's library.
      "api/store/db/sqlite/sqlite.ts",
      "api/store/move/snapshot.ts",
    ],
  },
  slot: {
    instead: "place, share, bucket, part",
    except: [
      // 32 bytes of the EVM's storage, and their gas.
      "api/chain/gas-probe.ts",
      "api/checks/chain-checks.ts",
      "api/domain/gas-estimate.ts",
      "api/relayer/build-batch.ts",
      "api/relayer/gas-meter.ts",
      "api/relayer/gas.ts",
      "api/store/requests/gas-measurement.ts",
      "api/store/sending/mint-slots.ts",
      // A field of a block's header, and a column.
      "api/chain/receipt-proof.ts",
      "api/store/db/schema.ts",
    ],
  },
};

/** The words of a name, in lower case. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z\d])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3 $2")
    .toLowerCase()
    .split(/[^a-z\d]+/);
}

/** The banned words in a name: themselves, and what begins with them (`slots`, `outvoted`). */
function bannedIn(name: string): string[] {
  const words = wordsOf(name);
  return Object.keys(BANNED).filter((banned) => words.some((word) => word.startsWith(banned)));
}

/** Names in a source text. */
function namesIn(text: string): Set<string> {
  const names = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.text);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest));
  return names;
}

describe("names", () => {
  it("are split into words", () => {
    const found = ["FairSlots", "#takeRoom", "OUTVOTED_AT", "api/mint-slots.ts", "headroom", "toldBy", "isRPCRoom"];
    expect(found.map((name) => bannedIn(name).join())).to.deep.equal([
      "slot",
      "room",
      "outvote",
      "slot",
      "",
      "told",
      "room",
    ]);
    expect([...namesIn("class A { #room = (b: B) => `${b.told} watched`; } // slot")]).to.include.members([
      "#room",
      "told",
    ]);
  });

  it("of api/ use no banned word, and every exception is needed", () => {
    const files = globSync("api/**/*.ts").map((path) => path.replaceAll("\\", "/"));
    expect(files).to.have.length.above(300);
    const found: string[] = [];
    for (const path of files) {
      for (const name of [path, ...namesIn(readFileSync(path, "utf8"))])
        found.push(...bannedIn(name).map((word) => `${word} in ${path}`));
    }
    const excepted = Object.entries(BANNED).flatMap(([word, { except }]) => except.map((path) => `${word} in ${path}`));
    const uses = [...new Set(found)];
    const hint = (use: string) => `${use} (instead: ${BANNED[use.split(" ")[0]!]!.instead})`;
    expect(uses.filter((use) => !excepted.includes(use)).map(hint)).to.deep.equal([]);
    expect(
      excepted.filter((use) => !uses.includes(use)),
      "exceptions without a use",
    ).to.deep.equal([]);
  });
});

describe("docs/architecture.md", () => {
  const text = readFileSync("docs/architecture.md", "utf8");

  it("has a glossary of half a page", () => {
    const [, glossary = ""] = /## Glossary\n+([^]*?)\n## /.exec(text) ?? [];
    const lines = glossary.trim().split("\n");
    expect(lines).to.have.length.within(10, 25);
    expect(lines.filter((line) => line.length > 200)).to.deep.equal([]);
  });

  it("names files that exist", () => {
    const named = [...text.matchAll(/`((?:[\w-]+\/)+[\w.-]*)`/g)].map(([, path = ""]) => path);
    expect(named).to.have.length.above(60);
    const exists = (path: string) => [path, `api/${path}`, `api/store/${path}`].some((place) => existsSync(place));
    expect(named.filter((path) => !exists(path))).to.deep.equal([]);
  });
});
