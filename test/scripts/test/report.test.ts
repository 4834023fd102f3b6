import { expect } from "chai";

import { countsOf, fileLines, type Result, summary } from "../../../scripts/test/report.ts";

function result(changed: Partial<Result> = {}): Result {
  return {
    path: "test/a.test.ts",
    place: "sqlite",
    seconds: 1.25,
    passed: 3,
    failed: 0,
    skipped: 0,
    failures: [],
    ...changed,
  };
}
const failures = [{ title: "a cat has a tail", text: "  1) a cat has a tail\n     expected 0 to equal 1" }];

describe("the report of the tests", () => {
  it("has a line for each file, with the progress and its seconds", () => {
    expect(fileLines(result(), 7, 120)).to.equal("[  7/120]   1.3 s  test/a.test.ts: 3 passed");
    expect(fileLines(result({ place: "postgres", skipped: 1 }), 120, 120)).to.equal(
      "[120/120]   1.3 s  test/a.test.ts (PostgreSQL): 3 passed, 1 skipped",
    );
  });

  it("has the whole text of a failure below its file", () => {
    const lines = fileLines(result({ failed: 1, failures }), 1, 2).split("\n");
    expect(lines.slice(0, 3)).to.deep.equal([
      "[1/2]   1.3 s  test/a.test.ts: 3 passed, 1 FAILED",
      "  1) a cat has a tail",
      "     expected 0 to equal 1",
    ]);
  });

  it("ends with the ten slowest files, the failures, what was not run, and the counts", () => {
    const results = Array.from({ length: 12 }, (_, n) => result({ path: `test/${n.toString()}.test.ts`, seconds: n }));
    results.push(result({ path: "test/cat.test.ts", seconds: 0, failed: 1, failures }));
    const lines = summary(results, countsOf(results), "Not run: nothing.").split("\n");
    expect(lines.slice(1, 4)).to.deep.equal([
      "The 10 slowest:",
      "   11.0 s  test/11.test.ts",
      "   10.0 s  test/10.test.ts",
    ]);
    expect(lines.slice(11)).to.deep.equal([
      "    2.0 s  test/2.test.ts",
      "",
      "Failed (the full texts are above):",
      "  test/cat.test.ts: a cat has a tail",
      "",
      "Not run: nothing.",
      "",
      "39 passed, 1 failed",
    ]);
  });

  it("counts a run without any test as failed, even if tests were skipped", () => {
    for (const results of [[], [result({ passed: 0, skipped: 3 })]]) {
      const counts = countsOf(results);
      expect(counts).to.include({ passed: 0, failed: 1 });
      expect(summary(results, counts, "")).to.contain("\n\nNo test ran.\n\n0 passed, 1 failed");
    }
    expect(countsOf([result(), result({ passed: 0, skipped: 2 }), result({ skipped: 1 })])).to.deep.equal({
      passed: 6,
      failed: 0,
      skipped: 3,
    });
  });
});
