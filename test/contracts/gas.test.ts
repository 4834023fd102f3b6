import { readFile, writeFile } from "node:fs/promises";

import { expect } from "chai";
import hre from "hardhat";

import type { Row, Rows } from "./gas/rows.ts";
import { measure } from "./gas/scenarios.ts";
import { COMPACT_SHARES, GOALS, renderTable, replaceTable } from "./gas/table.ts";
import { IS_LONG } from "./support/runs.ts";

const SNAPSHOT = new URL("./gas/snapshot.json", import.meta.url);
const DOCUMENT = new URL("../../docs/contracts.md", import.meta.url);

/** `npm run gas:update`. */
const UPDATES = process.env["UPDATE_GAS"] === "1";
/** A measurement takes seconds. The short form of the tests has that of Prague alone. */
const ALL_FORKS = IS_LONG || UPDATES;

async function readSnapshot(): Promise<Rows> {
  return JSON.parse(await readFile(SNAPSHOT, "utf8")) as Rows;
}

function mapRows(rows: Rows, change: (row: Row, name: string) => Row): Rows {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, change(row, name)]));
}

/** Leaves out the figures that a row does not have. */
function withoutGaps(row: { [Name in keyof Row]: Row[Name] | undefined }): Row {
  return Object.fromEntries(Object.entries(row).filter(([, gas]) => gas !== undefined));
}

describe("Gas", () => {
  let prague: Rows;
  let osaka: Rows;
  let amsterdam: Rows;

  before(async function () {
    // Code instrumented for coverage uses more gas.
    if (hre.globalOptions.coverage) this.skip();
    this.timeout(120_000);
    prague = await measure("prague");
    if (!ALL_FORKS) return;
    amsterdam = await measure("amsterdam");
    osaka = await measure("osaka");
    if (!UPDATES) return;
    const rows = mapRows(prague, (row, name) => {
      const { moneta, compact } = amsterdam[name]!;
      return withoutGaps({ ...row, amsterdam: moneta, compactAmsterdam: compact });
    });
    await writeFile(SNAPSHOT, `${JSON.stringify(rows, null, 2)}\n`);
    await writeFile(DOCUMENT, replaceTable(await readFile(DOCUMENT, "utf8"), rows));
  });

  it("equals the snapshot exactly (after an intended change, run npm run gas:update)", async () => {
    const snapshot = mapRows(await readSnapshot(), ({ amsterdam: _, compactAmsterdam: __, ...row }) => row);
    expect(prague).to.deep.equal(snapshot);
  });

  it("equals the table in the documentation", async () => {
    expect(await readFile(DOCUMENT, "utf8")).to.include(renderTable(await readSnapshot()));
  });

  if (ALL_FORKS) {
    it("equals the snapshot exactly under the Amsterdam hard fork", async () => {
      const snapshot = mapRows(await readSnapshot(), (row) =>
        withoutGaps({ moneta: row.amsterdam, compact: row.compactAmsterdam }),
      );
      expect(mapRows(amsterdam, ({ moneta, compact }) => withoutGaps({ moneta, compact }))).to.deep.equal(snapshot);
    });

    it("is no higher under the Osaka hard fork", () => {
      for (const [name, row] of Object.entries(osaka)) {
        if (row.moneta !== undefined) expect(row.moneta, name).to.be.at.most(prague[name]!.moneta!);
        if (row.compact !== undefined) expect(row.compact, name).to.be.at.most(prague[name]!.compact!);
      }
    });
  }

  for (const [name, goal] of Object.entries(GOALS)) {
    it(`meets its goal: ${name}`, () => {
      expect(prague[name]!.moneta!).to.be.at.most(goal);
    });
  }

  for (const [name, share] of Object.entries(COMPACT_SHARES)) {
    it(`costs at most ${share} of it with compact storage: ${name}`, () => {
      const { moneta, compact } = prague[name]!;
      expect(compact! <= moneta! * share, `${compact} of ${moneta}`).to.equal(true);
    });
  }
});
