import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { expect } from "chai";
import { cruise, type ICruiseOptions, type ICruiseResult, type ITranspileOptions } from "dependency-cruiser";
import extractOptions from "dependency-cruiser/config-utl/extract-depcruise-options";
import extractTsConfig from "dependency-cruiser/config-utl/extract-ts-config";

const RULES = resolve(".dependency-cruiser.mjs");

/** Files of a small project: for each path the paths that it imports. A path after `type ` is a type-only import. */
type Files = Record<string, string[]>;

function importOf(path: string, up: string): string {
  if (path.startsWith("node:")) return `import "${path}";`;
  return path.startsWith("type ")
    ? `import type { T } from "${up}${path.slice("type ".length)}";`
    : `import "${up}${path}";`;
}

describe("lint: who may import whom", () => {
  let folder: string;
  let projects = 0;
  let options: ICruiseOptions;
  let transpiling: ITranspileOptions;
  // In this process, as the command line does it: a process for each project would load everything again.
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "moneta-import-rules-"));
    const tsConfig = join(folder, "tsconfig.json");
    writeFileSync(tsConfig, '{"compilerOptions": {"allowImportingTsExtensions": true}, "files": ["empty.ts"]}');
    writeFileSync(join(folder, "empty.ts"), "");
    options = { ...(await extractOptions(RULES)), tsConfig: { fileName: tsConfig } };
    transpiling = { tsConfig: extractTsConfig(tsConfig) };
  });
  after(() => rmSync(folder, { recursive: true }));

  /** Names of the rules that a project breaks. */
  async function violations(files: Files): Promise<string[]> {
    const project = join(folder, (projects++).toString());
    for (const [path, imports] of Object.entries(files)) {
      const up = "../".repeat(path.split("/").length - 1);
      mkdirSync(join(project, dirname(path)), { recursive: true });
      writeFileSync(join(project, path), [...imports.map((other) => importOf(other, up)), "export {};\n"].join("\n"));
    }
    const folders = [...new Set(Object.keys(files).map((path) => path.split("/")[0]!))];
    const { output } = await cruise(folders, { ...options, baseDir: project }, {}, transpiling);
    const { summary } = output as ICruiseResult;
    expect(summary.totalCruised).to.be.at.least(Object.keys(files).length);
    return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
  }

  it("accepts imports along the way of the data", async () => {
    const clean = await violations({
      "api/v1/nfts.ts": ["api/store/listings/nfts.ts", "api/store/requests/requests.ts"],
      "api/webhooks/dispatcher.ts": ["api/store/outbox/deliveries.ts"],
      "api/store/ledger/apply.ts": ["api/store/requests/requests.ts"],
      "api/store/requests/requests.ts": ["api/store/db/sql.ts"],
      "api/store/listings/nfts.ts": ["api/store/db/sql.ts"],
      "api/store/outbox/deliveries.ts": ["api/store/db/sql.ts"],
      "api/store/db/sql.ts": [],
    });
    expect(clean).to.deep.equal([]);
  });

  for (const [what, from, to, rule] of [
    ["the HTTP side to the ledger", "api/v1/nfts.ts", "api/store/ledger/apply.ts", "v1-enters-store"],
    ["the HTTP side to sending", "api/v1/nfts.ts", "api/store/sending/lanes.ts", "v1-enters-store"],
    ["webhooks to requests", "api/webhooks/dispatcher.ts", "api/store/requests/requests.ts", "webhooks-enters-store"],
    ["the relayer to the outbox", "api/relayer/lane.ts", "api/store/outbox/deliveries.ts", "relayer-enters-store"],
    ["keys to the store", "api/keys/sealer.ts", "api/store/db/sql.ts", "store-has-named-users"],
    ["anything to the store's root", "api/v1/nfts.ts", "api/store/nfts.ts", "store-is-wings"],
    ["a wing to one above it", "api/store/requests/requests.ts", "api/store/ledger/apply.ts", "store-requests-imports"],
    ["one end of the pipeline to another", "api/v1/nfts.ts", "api/relayer/lane.ts", "v1-imports"],
    [
      "the relayer to contract types",
      "api/relayer/lane.ts",
      "contracts/generated/relay.ts",
      "only-chain-uses-contract-types",
    ],
    ["the doctor to the ABI", "api/checks/check.ts", "api/chain/abi.ts", "only-chain-encodes-contract-calls"],
    ["the indexer to contracts", "api/indexer/a.ts", "api/chain/call-results.ts", "only-chain-encodes-contract-calls"],
    ["the client to the service", "client/retries.ts", "api/shared/pause.ts", "client-stands-alone"],
    ["the service to scripts", "api/v1/nfts.ts", "scripts/lint/main.ts", "service-imports-only-itself"],
  ] as const) {
    it(`refuses an import from ${what}`, async () => {
      expect(await violations({ [from]: [to], [to]: [] })).to.include(rule);
    });
  }

  it("refuses a type-only import of contract types or of the ABI", async () => {
    const [types, abi] = ["contracts/generated/relay.ts", "api/chain/abi.ts"];
    expect(
      await violations({ "api/relayer/lane.ts": [`type ${types}`, `type ${abi}`], [types]: [], [abi]: [] }),
    ).to.deep.equal(["only-chain-encodes-contract-calls", "only-chain-uses-contract-types"]);
  });

  it("lets api/chain use contract types and the ABI", async () => {
    const [types, abi] = ["contracts/generated/relay.ts", "api/chain/abi.ts"];
    expect(await violations({ "api/chain/reads.ts": [types, abi], [types]: [], [abi]: [] })).to.deep.equal([]);
  });

  it("refuses a circle", async () => {
    const one = "api/store/db/sql.ts";
    const other = "api/store/db/counters.ts";
    expect(await violations({ [one]: [other], [other]: [one] })).to.deep.equal(["no-circular"]);
  });

  it("refuses a built-in module of Node in the client", async () => {
    expect(await violations({ "client/retries.ts": [], "client/pause.ts": ["client/retries.ts"] })).to.deep.equal([]);
    const project = { "client/pause.ts": ["node:timers/promises"] };
    expect(await violations(project)).to.deep.equal(["client-stands-alone"]);
  });

  it("refuses an import of a file that does not exist", async () => {
    expect(await violations({ "api/v1/nfts.ts": ["api/domain/missing.ts"] })).to.deep.equal(["no-unresolvable"]);
  });
});
