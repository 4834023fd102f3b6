import { readFile, writeFile } from "node:fs/promises";

import { expect } from "chai";
import hre from "hardhat";

import type { Rows } from "./gas/rows.ts";
import { measure } from "./gas/scenarios.ts";
import { GOALS, renderTable, replaceTable } from "./gas/table.ts";

const SNAPSHOT = new URL("./gas/snapshot.json", import.meta.url);
const DOCUMENT = new URL("../../docs/contracts.md", import.meta.url);

function withAmsterdam(rows: Rows, amsterdam: Rows): Rows {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => [name, { ...row, amsterdam: amsterdam[name]!.moneta }]),
  );
}

describe("Gas", () => {
  let prague: Rows;
  let osaka: Rows;

  before(async function () {
    // Code instrumented for coverage uses more gas.
    if (hre.globalOptions.coverage) this.skip();
    this.timeout(120_000);
    prague = withAmsterdam(await measure("prague"), await measure("amsterdam"));
    osaka = await measure("osaka");
    if (process.env["UPDATE_GAS"] === "1") {
      await writeFile(SNAPSHOT, `${JSON.stringify(prague, null, 2)}\n`);
      await writeFile(DOCUMENT, replaceTable(await readFile(DOCUMENT, "utf8"), prague));
    }
  });

  it("equals the snapshot exactly (after an intended change, run npm run gas:update)", async () => {
    const snapshot: unknown = JSON.parse(await readFile(SNAPSHOT, "utf8"));
    expect(prague).to.deep.equal(snapshot);
  });

  it("is no higher under the Osaka hard fork", () => {
    for (const [name, row] of Object.entries(osaka)) expect(row.moneta, name).to.be.at.most(prague[name]!.moneta);
  });

  it("equals the table in the documentation", async () => {
    expect(await readFile(DOCUMENT, "utf8")).to.include(renderTable(prague));
  });

  for (const [name, goal] of Object.entries(GOALS)) {
    it(`meets its goal: ${name}`, () => {
      expect(prague[name]!.moneta).to.be.at.most(goal);
    });
  }
});
