import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { type Defect, requireFresh, tryDefects } from "../../../scripts/mutation/defects.ts";
import { SERVER_DEFECTS } from "../../../scripts/mutation/server-defects.ts";
import { ROOT } from "../../../scripts/scene/program.ts";

const SUM = "export function sum(a: number, b: number): number {\n  return a + b;\n}\n";
const TEST = `import { strictEqual } from "node:assert";
import { sum } from "./sum.ts";
describe("sum", () => {
  it("adds", () => strictEqual(sum(2, 3), 5));
});
`;
const FOUND: Defect = {
  name: "subtracts",
  promise: "Sums are right.",
  ...{ file: "sum.ts", find: "a + b", replace: "a - b", tests: ["sum.test.ts"] },
};

describe("planted defects", () => {
  let folder: string;
  let lines: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "moneta-sum-"));
    lines = [];
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "sum.ts"), SUM);
    writeFileSync(join(folder, "sum.test.ts"), TEST);
    symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
    mkdirSync(join(folder, "artifacts"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });
  const run = (...defects: Defect[]) => tryDefects(folder, defects, (line) => lines.push(line));

  it("are found by a test that fails, and never change the project itself", async () => {
    expect(await run(FOUND)).to.equal(true);
    expect(lines[1]).to.match(/^subtracts: found by "sum adds", \d+ s$/);
    expect(lines.at(-1)).to.equal("1 of 1 defects found.");
    expect(readFileSync(join(folder, "sum.ts"), "utf8")).to.equal(SUM);
  });

  it("fail the run when no test finds one, or when the tests cannot be run with it", async () => {
    const unfound = { ...FOUND, name: "swaps", replace: "b + a" };
    const broken = { ...FOUND, name: "breaks", replace: "a +" };
    expect(await run(unfound, broken, FOUND)).to.equal(false);
    expect(lines.join("\n")).to.match(/swaps: NOT FOUND[^]*breaks: NOT FOUND, because the tests cannot be run/);
    expect(lines.at(-1)).to.equal("1 of 3 defects found.");
  });

  it("are not tried while the tests fail without them", async () => {
    writeFileSync(join(folder, "sum.ts"), SUM.replace("a + b", "a * b"));
    expect(await run({ ...FOUND, find: "a * b" })).to.equal(false);
    expect(lines.at(-1)).to.equal("The tests fail without any defect: sum adds");
  });

  it("name the one whose text the code no longer has, or has twice", async () => {
    for (const [find, times] of [
      ["a - b", "0"],
      ["number", "3"],
    ] as const) {
      const error = await run({ ...FOUND, find }).then(() => null, String);
      expect(error).to.match(
        new RegExp(`The list is stale: sum.ts has the text of the defect subtracts ${times} times`),
      );
    }
  });
});

describe("the defects of the server", () => {
  it("are 34, each with a name of its own and one to three test files", () => {
    expect(new Set(SERVER_DEFECTS.map(({ name }) => name)).size).to.equal(34);
    for (const { tests, name } of SERVER_DEFECTS) expect(tests.length, name).to.be.within(1, 3);
  });

  it("can all be planted: their texts and test files exist", () => {
    requireFresh(ROOT, SERVER_DEFECTS);
    for (const { tests } of SERVER_DEFECTS)
      for (const test of tests) expect(existsSync(join(ROOT, test)), test).to.equal(true);
  });
});
