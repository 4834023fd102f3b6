import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";

import { expect } from "chai";

import { GENERATED, STANDARD_INPUT } from "../../../scripts/contracts/generated.ts";
import { committed, type Contract } from "../../../scripts/prove/bytecode.ts";
import { HOLDERS_THEOREMS, MAPPINGS, proveHolders } from "../../../scripts/prove/holders.ts";
import { proveRelay, RELAY_THEOREMS } from "../../../scripts/prove/relay.ts";
import { report } from "../../../scripts/prove/report.ts";
import { type Answer, startSolver } from "../../../scripts/prove/solver.ts";
import { SLOTS } from "../../contracts/support/compact-layout.ts";

/**
 * The planted defects show that the prover sees what it must see: each is a contract with one error. They and the proof of
 * compact storage take many minutes, most of them in the compiler. So they are left out as long as the bytecode, the prover and
 * this file are those of RECORD, with which all of this has passed. `npm run prove:update` runs everything and writes it.
 */
const RECORD = "scripts/prove/proved.json";
const UPDATE = process.env["PROVE"] === "all";

const RELAY = { name: "Relay", source: "project/contracts/Relay.sol" };
const COLLECTION = { name: "CompactERC721Collection", source: "project/contracts/storage/CompactHolders.sol" };

interface Defect<Name extends string> {
  what: string;
  /** Each first text, which the source has once, is replaced by the second. */
  patch: [string, string][];
  /** Theorems that must be refused, with the function on the path of the refusal. */
  refused: Partial<Record<Name, string>>;
}

const NO_GUARD_ON_EXECUTE: [string, string] = [
  "function execute(Call[] calldata calls) external nonReentrant",
  "function execute(Call[] calldata calls) external",
];
const WRITE_LAST_WORD = "if (bucket != _NO_BUCKET) _consumed[bucket] = word;\n        emit BatchExecuted";
const CANCEL = "if (isConsumed(number)) continue;\n            _consumed[number >> 8] |= 1 << (number & 0xff);";

const RELAY_DEFECTS: Defect<keyof typeof RELAY_THEOREMS>[] = [
  { what: "execute has no guard", patch: [NO_GUARD_ON_EXECUTE], refused: { guarded: "execute" } },
  {
    what: "cancel has no guard",
    patch: [
      ["cancel(uint256[] calldata numbers) external nonReentrant", "cancel(uint256[] calldata numbers) external"],
    ],
    refused: { reentered: "cancel" },
  },
  {
    what: "the last word of a batch is lost",
    patch: [[WRITE_LAST_WORD, "emit BatchExecuted"]],
    refused: { set: "execute" },
  },
  {
    what: "a word is lost when a number of another word comes",
    patch: [["if (bucket != _NO_BUCKET) _consumed[bucket] = word;\n                bucket", "bucket"]],
    refused: { set: "execute" },
  },
  {
    what: "cancel toggles",
    patch: [[CANCEL, "_consumed[number >> 8] ^= 1 << (number & 0xff);"]],
    refused: { kept: "cancel", stays: "cancel" },
  },
  {
    what: "cancel clears",
    patch: [[CANCEL, "_consumed[number >> 8] &= ~(1 << (number & 0xff));"]],
    refused: { kept: "cancel", reported: "cancel" },
  },
  {
    what: "execute does not check the bit",
    patch: [["if (word & bit != 0) {", "if (gasleft() == 1) {"]],
    refused: { clear: "execute" },
  },
  {
    what: "the bit is set after the call, without a guard",
    patch: [
      NO_GUARD_ON_EXECUTE,
      ["            word |= bit;\n", ""],
      [
        "_run(number, item.target, gasLimit, data);",
        "_run(number, item.target, gasLimit, data);\n            word |= bit;",
      ],
    ],
    refused: { guarded: "execute" },
  },
  {
    what: "the wrong word is written",
    patch: [[WRITE_LAST_WORD, "if (bucket != _NO_BUCKET) _consumed[bucket ^ 1] = word;\n        emit BatchExecuted"]],
    refused: { set: "execute", kept: "execute" },
  },
  {
    what: "the wrong bit is set",
    patch: [["word |= bit;", "word |= bit << 1;"]],
    refused: { set: "execute" },
  },
  {
    what: "another number is sent than the one consumed",
    patch: [["mstore(add(input, data.length), suffix)", "mstore(add(input, data.length), add(suffix, 1))"]],
    refused: { clear: "execute" },
  },
  {
    what: "a target runs with the relay's storage",
    patch: [["call(gasLimit, target, 0, input,", "delegatecall(gasLimit, target, input,"]],
    refused: { own: "execute" },
  },
];

const SEARCH = "if (word == 0 || address(uint160(word)) == holder) return (key, word);";
const SHIFT = "return (tokenId & 7) << 5;";

/**
 * Each is searched only in the function that is named: all functions that move a token share the code. There are few,
 * because the compiler takes most of the time.
 */
const HOLDERS_DEFECTS: Defect<keyof typeof HOLDERS_THEOREMS>[] = [
  {
    what: "the search does not compare the address",
    patch: [[SEARCH, "if (word != 1) return (key, word);"]],
    refused: { moved: "mintToWallet" },
  },
  {
    what: "a word is cleared when its balance is 0",
    patch: [["else _holders[lane] = holder - _ONE;", "else _holders[lane] = holder >> 161 == 0 ? 0 : holder - _ONE;"]],
    refused: { kept: "burn", taken: "burn" },
  },
  {
    what: "a key can be 0",
    patch: [["(uint64(pieces) % _KEYS) + 1", "uint64(pieces) % _KEYS"]],
    refused: { taken: "mintToWallet" },
  },
  {
    what: "two tokens share a lane",
    patch: [[SHIFT, "return (tokenId & 3) << 5;"]],
    refused: { others: "mintToWallet" },
  },
];

interface Input {
  sources: Record<string, { content: string }>;
  settings: Record<string, unknown>;
}
interface Output {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, { evm: { bytecode: { object: string } } }>>;
}

/** Compiles a committed contract, with one source changed, with the committed settings. */
function compile({ name, source }: typeof RELAY, patch: Defect<string>["patch"]): string {
  const { input } = JSON.parse(readFileSync(join(GENERATED, STANDARD_INPUT), "utf8")) as { input: Input };
  let content = input.sources[source]?.content ?? "";
  for (const [before, after] of patch) {
    expect(content.split(before), `occurrences of "${before}"`).to.have.length(2);
    content = content.replace(before, () => after);
  }
  const sources = { ...input.sources, [source]: { content } };
  const file = `project/contracts/${name}.sol`;
  const settings = { ...input.settings, outputSelection: { [file]: { [name]: ["evm.bytecode.object"] } } };
  const solc = createRequire(import.meta.url)("solc") as { compile: (input: string) => string };
  const { errors, contracts } = JSON.parse(solc.compile(JSON.stringify({ ...input, sources, settings }))) as Output;
  const error = errors?.find(({ severity }) => severity === "error");
  if (error !== undefined) throw new Error(error.formattedMessage);
  return `0x${contracts?.[file]?.[name]?.evm.bytecode.object ?? ""}`;
}

/** Of everything on which the results depend. */
async function digest(): Promise<string> {
  const hash = createHash("sha256");
  for (const { name } of [RELAY, COLLECTION]) hash.update((await committed(name)).creation);
  const { version } = createRequire(import.meta.url)("z3-solver/package.json") as { version: string };
  hash.update(version);
  const files = [...globSync("scripts/prove/*.ts").sort(), relative(process.cwd(), import.meta.filename)];
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex");
}

const now = await digest();
const recorded = existsSync(RECORD) ? (JSON.parse(readFileSync(RECORD, "utf8")) as { digest: string }).digest : null;
const itWhenChanged = now === recorded && !UPDATE ? it.skip : it;

describe("npm run prove", () => {
  after(function () {
    const states = new Set<string | undefined>();
    this.test?.parent?.eachTest(({ state }) => states.add(state));
    if (UPDATE && states.size === 1 && states.has("passed"))
      writeFileSync(RECORD, `${JSON.stringify({ digest: now }, null, 2)}\n`);
  });

  it("has the slot numbers of the compact mappings", () => {
    expect(SLOTS).to.include(MAPPINGS);
  });

  for (const { proof, contract, theorems, defects } of [
    { proof: proveRelay, contract: RELAY, theorems: RELAY_THEOREMS, defects: RELAY_DEFECTS },
    { proof: proveHolders, contract: COLLECTION, theorems: HOLDERS_THEOREMS, defects: HOLDERS_DEFECTS },
  ]) {
    describe(contract.name, () => {
      const texts: Record<string, string> = theorems;
      const all = Object.values(texts);
      // Most paths of a defective contract are those of the committed one, so their questions have answers already.
      const answers = new Map<string, Answer>();
      let shipped: Contract;

      before(async () => {
        shipped = await committed(contract.name);
      });

      // A new z3 for each proof: one that has answered many questions is slower.
      async function prove(creation: string, asked = all, only?: string[], until?: number) {
        const solver = await startSolver(until, until === undefined ? answers : new Map<string, Answer>());
        const outcomes = await proof({ ...shipped, creation }, solver, asked, only);
        solver.stop();
        return report(asked, outcomes);
      }

      itWhenChanged("is compiled to the committed bytecode, so the defects below are the only difference", () => {
        expect(compile(contract, [])).to.equal(shipped.creation);
      });

      (contract === RELAY ? it : itWhenChanged)("has all theorems proved of the committed bytecode", async () => {
        const { lines, isProved } = await prove(shipped.creation);
        expect(lines.filter((line) => /^(NOT TRUE|undecided)/.test(line))).to.deep.equal([]);
        expect(lines.filter((line) => line.startsWith("proved: "))).to.have.length(all.length);
        expect(isProved).to.equal(true);
      });

      it("is undecided, not proved, when the time is over", async () => {
        const { lines, isProved } = await prove(shipped.creation, all, ["cancel", "burn"], Date.now());
        expect(isProved).to.equal(false);
        expect(lines.some((line) => line.startsWith("undecided: "))).to.equal(true);
        expect(lines.some((line) => line.startsWith("NOT TRUE"))).to.equal(false);
      });

      for (const { what, patch, refused } of defects) {
        itWhenChanged(`is refused where ${what}`, async () => {
          const asked = Object.keys(refused).map((theorem) => texts[theorem] ?? "");
          const { lines, isProved } = await prove(compile(contract, patch), asked, Object.values(refused));
          expect(isProved).to.equal(false);
          for (const [theorem, path] of Object.entries(refused)) {
            const start = `NOT TRUE: ${texts[theorem]}. Path: ${path} `;
            expect(
              lines.filter((line) => line.startsWith(start)),
              `${start}\n${lines.join("\n")}`,
            ).not.to.be.empty;
          }
        });
      }
    });
  }
});
