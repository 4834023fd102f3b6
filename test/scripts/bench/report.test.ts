import { expect } from "chai";

import { addFigures, exceeds, ratioOf, type Row, tableOf } from "../../../scripts/bench/report.ts";

function rowsOf(values: readonly number[], other: readonly number[], atMost?: number): Row[] {
  const rows: Row[] = [];
  const figure = { what: "mints settled", unit: "/s", ...(atMost !== undefined && { atMost }) } as const;
  for (const value of values) addFigures(rows, [{ ...figure, value }], "values");
  for (const value of other) addFigures(rows, [{ ...figure, value }], "other");
  return rows;
}

describe("report of the benchmark", () => {
  it("divides the medians of the rounds", () => {
    const [row] = rowsOf([100, 300, 200], [400, 100, 400]);
    expect(row === undefined ? null : ratioOf(row)).to.equal(0.5);
  });

  it("prints ratios first, then both medians with their spread", () => {
    expect(tableOf(rowsOf([100, 300, 200], [400, 100, 400]), true).split("\n")).to.deep.equal([
      "this / other  this                other               what",
      "0.50          200/s (100 to 300)  400/s (100 to 400)  mints settled",
    ]);
  });

  it("prints figures without another checkout", () => {
    expect(tableOf(rowsOf([1234.5], []), false)).to.equal("measured  what\n1,235/s   mints settled");
  });

  it("names a limit that one round exceeds", () => {
    expect(rowsOf([399, 401], [], 400).map(exceeds)).to.deep.equal([true]);
    expect(rowsOf([399, 400], [], 400).map(exceeds)).to.deep.equal([false]);
  });

  it("compares nothing that one side does not have", () => {
    const [row] = rowsOf([1], []);
    expect(row === undefined ? 0 : ratioOf(row)).to.equal(null);
  });
});
