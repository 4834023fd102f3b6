import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { type Counts, failureList, judgePart, readCounts, summaryLine } from "../../../scripts/test/counts.ts";

function counts(passed: number, failed = 0, skipped = 0, failures: string[] = []): Counts {
  return { passed, failed, skipped, failures };
}

describe("counts of tests", () => {
  describe("readCounts", () => {
    let folder: string;

    beforeEach(() => {
      folder = mkdtempSync(join(tmpdir(), "moneta-counts-"));
    });

    afterEach(() => {
      rmSync(folder, { recursive: true });
    });

    it("returns the counts that a runner wrote", () => {
      const path = join(folder, "counts.json");
      writeFileSync(path, '{"passed":3,"failed":1,"skipped":2,"failures":["a cat: has no tail"]}');
      expect(readCounts(path)).to.deep.equal(counts(3, 1, 2, ["a cat: has no tail"]));
    });

    it("returns undefined without a file", () => {
      expect(readCounts(join(folder, "missing.json"))).to.equal(undefined);
    });

    for (const text of [
      "",
      "{",
      "{}",
      '{"passed":3,"failed":null,"skipped":0,"failures":[]}',
      '{"passed":-1,"failed":0,"skipped":0,"failures":[]}',
      '{"passed":3,"failed":0,"skipped":0}',
    ]) {
      it(`returns undefined for ${JSON.stringify(text)}`, () => {
        const path = join(folder, "counts.json");
        writeFileSync(path, text);
        expect(readCounts(path)).to.equal(undefined);
      });
    }
  });

  describe("judgePart", () => {
    it("adds up the counts of all runners", () => {
      expect(judgePart([counts(2, 0, 1), counts(3)], true)).to.deep.equal({ counts: counts(5, 0, 1), problem: null });
    });

    it("adds no failure if failed tests explain why a runner failed", () => {
      expect(judgePart([counts(2, 3)], false).counts).to.deep.equal(counts(2, 3));
    });

    it("adds a failure for a runner without counts", () => {
      const problem = "a test runner ended before it wrote its counts";
      expect(judgePart([counts(2), undefined], true).counts).to.deep.equal(counts(2, 1, 0, [problem]));
      expect(judgePart([undefined], true).counts).to.deep.equal(counts(0, 1, 0, [problem]));
    });

    it("adds a failure for a runner that failed although no test failed", () => {
      const problem = "a test runner failed although no test failed";
      expect(judgePart([counts(2)], false).counts).to.deep.equal(counts(2, 1, 0, [problem]));
    });

    it("adds a failure if no test ran, even if tests were skipped", () => {
      expect(judgePart([counts(0)], true).counts).to.deep.equal(counts(0, 1, 0, ["no test ran"]));
      expect(judgePart([counts(0, 0, 4)], true).counts).to.deep.equal(counts(0, 1, 4, ["no test ran"]));
    });
  });

  describe("failureList", () => {
    it("names the part of each failure", () => {
      const parts = [
        { name: "api", counts: counts(1, 1, 0, ["a cat: has no tail"]) },
        { name: "contracts", counts: counts(2) },
      ];
      expect(failureList(parts)).to.deep.equal(["  api: a cat: has no tail"]);
    });
  });

  describe("summaryLine", () => {
    it("mentions skipped tests only if there are any", () => {
      expect(summaryLine(counts(12))).to.equal("12 passed, 0 failed");
      expect(summaryLine(counts(12, 0, 1))).to.equal("12 passed, 0 failed, 1 skipped");
    });
  });
});
