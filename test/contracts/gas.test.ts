import { readFile, writeFile } from "node:fs/promises";

import { expect } from "chai";
import hre from "hardhat";

import type { Figures, Measured, Row, Rows } from "./gas/rows.ts";
import { measure } from "./gas/scenarios.ts";
import { COMPACT_SHARES, GOALS, renderTables, replaceTables } from "./gas/table.ts";
import { IS_LONG } from "./support/runs.ts";

const SNAPSHOT = new URL("./gas/snapshot.json", import.meta.url);
const DOCUMENT = new URL("../../docs/contracts.md", import.meta.url);

/** `npm run update -- gas`. */
const UPDATES = process.env["UPDATE_GAS"] === "1";
/** A measurement takes seconds. The short form of the tests has that of Prague alone. */
const ALL_FORKS = IS_LONG || UPDATES;

async function readSnapshot(): Promise<Rows> {
  return JSON.parse(await readFile(SNAPSHOT, "utf8")) as Rows;
}

function mapRows<From, To>(rows: Record<string, From>, change: (row: From, name: string) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, change(row, name)]));
}

describe("Gas", () => {
  let prague: Measured;
  let osaka: Measured;
  let amsterdam: Measured;

  before(async function () {
    // Code instrumented for coverage uses more gas.
    if (hre.globalOptions.coverage) this.skip();
    this.timeout(120_000);
    prague = await measure("prague");
    if (!ALL_FORKS) return;
    amsterdam = await measure("amsterdam");
    osaka = await measure("osaka");
    if (!UPDATES) return;
    const rows: Rows = mapRows(prague, (row, name) => ({ ...row, amsterdam: amsterdam[name]! }));
    await writeFile(SNAPSHOT, `${JSON.stringify(rows, null, 2)}\n`);
    await writeFile(DOCUMENT, replaceTables(await readFile(DOCUMENT, "utf8"), rows));
  });

  it("equals the snapshot exactly (after an intended change, run npm run update -- gas)", async () => {
    const snapshot = mapRows(await readSnapshot(), ({ amsterdam: _, ...row }): Figures => row);
    expect(prague).to.deep.equal(snapshot);
  });

  it("equals the tables in the documentation", async () => {
    expect(await readFile(DOCUMENT, "utf8")).to.include(renderTables(await readSnapshot()));
  });

  if (ALL_FORKS) {
    it("equals the snapshot exactly under the Amsterdam hard fork", async () => {
      expect(amsterdam).to.deep.equal(mapRows(await readSnapshot(), (row: Row) => row.amsterdam));
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
