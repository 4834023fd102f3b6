import { expect } from "chai";

import type { Place } from "../../../scripts/test/plan.ts";
import { runAlone, runJobs } from "../../../scripts/test/pool.ts";
import type { Result } from "../../../scripts/test/report.ts";

describe("runJobs", () => {
  const job = (name: string, place: Place = "sqlite") => ({
    path: `test/scripts/test/samples/${name}.ts`,
    place,

    slow: false,
  });

  async function run(...jobs: ReturnType<typeof job>[]): Promise<Result[]> {
    const results: Result[] = [];
    await runJobs(jobs, 1, (result) => results.push(result));
    return results;
  }
  const counts = ({ path, passed, failed, skipped }: Result) => [path, passed, failed, skipped];

  it("counts the tests of each file, with failed hooks", async () => {
    const results = await run(job("passes"), job("fails"), job("passes", "postgres"));
    expect(results.map(counts)).to.deep.equal([
      [job("passes").path, 2, 0, 1],
      [job("fails").path, 1, 3, 0],
      [job("passes").path, 2, 0, 1],
    ]);
    expect(results.map(({ place }) => place)).to.deep.equal(["sqlite", "sqlite", "postgres"]);
  });

  it("gives the title and the whole text of a failure", async () => {
    const [result] = await run(job("fails"));
    const [wrong, rejected, hook] = result?.failures ?? [];
    expect(wrong?.title).to.equal("a sample fails");
    expect(wrong?.text).to.contain("AssertionError: expected { cats: 1 } to deeply equal { cats: 2 }");
    expect(wrong?.text)
      .to.match(/- {2}"cats": 1\s+\+ {2}"cats": 2/)
      .and.to.contain("samples/fails.ts:");
    expect(rejected?.title).to.equal("a sample leaves a promise that fails");
    expect(hook?.title).to.equal('a sample given a hook that fails "before all" hook for "does not run"');
  });

  it("fails a file that ends the process, with its output, and runs the next one", async () => {
    const results = await run(job("passes"), job("ends"), job("passes"));
    expect(results.map(({ failed }) => failed)).to.deep.equal([0, 1, 0]);
    const [failure] = results[1]?.failures ?? [];
    expect(failure?.title).to.equal(
      `the process of the tests ended while the file ran (the file before: ${job("passes").path})`,
    );
    expect(failure?.text).to.contain("last words");
  });

  it("fails a file that cannot be loaded", async () => {
    const [result] = await run(job("broken"));
    expect(result).to.include({ passed: 0, failed: 1 });
    expect(result?.failures[0]?.title).to.equal("the file cannot be loaded");
    expect(result?.failures[0]?.text).to.contain("this file does not load");
  });

  it("counts a clean-up that fails after the last file, with its output", async () => {
    const results = await run(job("passes"), job("cleans-up-badly"));
    expect(results.map(({ passed, failed }) => [passed, failed])).to.deep.equal([
      [2, 0],
      [1, 0],
      [0, 1],
    ]);
    expect(results[2]?.path).to.equal(job("cleans-up-badly").path);
    expect(results[2]?.failures[0]?.text).to.contain("a clean-up that fails");
  });

  it("counts a process that ends after a file, and runs the next file", async () => {
    const results = await run(job("ends-later"), job("passes"), job("ends-later"));
    const failed = results.filter((result) => result.failed > 0);
    // It may end as the next file begins: then that file fails.
    expect(failed.length).to.equal(2);
    for (const { failures } of failed) expect(failures[0]?.title).to.match(/^the process of the tests ended/);
  });
});

describe("runAlone", () => {
  afterEach(() => {
    delete process.env["SAMPLE"];
  });

  /** Failed tests in each file of the sample, its exit code, and the failures in each result. */
  const samples: [title: string, files: number[], exitCode: number, failed: number[]][] = [
    ["counts what fails although no test failed", [0], 1, [0, 1]],
    ["does not count what a failed test explains", [1], 1, [1]],
    ["counts what ends without any result", [], 0, [1]],
    ["counts nothing else", [0, 0], 0, [0, 0]],
  ];
  for (const [title, files, exitCode, failed] of samples) {
    it(title, async () => {
      process.env["SAMPLE"] = JSON.stringify({ files, exitCode });
      const results: Result[] = [];
      const alone = { path: "all of them", place: "sqlite", slow: false } as const;
      await runAlone("../../test/scripts/test/samples/alone.ts", alone, (result) => results.push(result));
      expect(results.map((result) => result.failed)).to.deep.equal(failed);
    });
  }
});
