import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, globSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

import { CONTRACTS, jobsOf, named, type Tier } from "./plan.ts";
import { runJobs } from "./pool.ts";
import { countsOf, fileLines, type Result, summary } from "./report.ts";

/**
 * `npm test [-- NAME ...]` runs all tests of the short tier, or those of the named folders and files below `test`.
 * `npm run test:long [-- NAME ...]` runs the long tier. The last line is `N passed, N failed[, N skipped]`.
 */

/**
 * Workers beyond one for each core. Tests wait for blocks, processes and pages for a part of their time: with one more, a quarter of
 * two cores was idle.
 */
const MORE_WORKERS = 3;
const MEMORY = "/dev/shm";
/** Free space and free memory that it needs, in bytes. The tests of the long tier have up to 1.3 GiB there at the same time. */
const ROOM = 4 * 2 ** 30;
const FREE = 8 * 2 ** 30;
const LEFT = /^moneta-tests-(\d+)-/;

const { values, positionals } = parseArgs({
  options: { long: { type: "boolean" } },
  allowPositionals: true,
});
const tier: Tier = values.long === true ? "long" : "short";
const jobs = named(jobsOf(tier), positionals);
const left = named(jobsOf(tier === "long" ? "short" : "long"), positionals);
if (jobs.length === 0) {
  const other =
    left.length === 0
      ? ""
      : ` The other tier has ${left.length.toString()}: ${command(tier === "long" ? "short" : "long")}`;
  console.error(`No tests in this tier are in ${positionals.join(", ")}.${other}`);
  process.exit(2);
}

const all = jobs.reduce((sum, job) => sum + (job.path === CONTRACTS ? contractFiles() : 1), 0);
const results: Result[] = [];
const memory = process.env["TMPDIR"] === undefined ? memoryFolder() : null;
// Whatever the tests start finds it there.
if (memory !== null) process.env["TMPDIR"] = memory.path;
process.once("exit", () => memory?.remove());
const began = performance.now();
await compile();
// What takes longest begins first.
const order = jobs.toSorted((one, other) => Number(other.slow) - Number(one.slow));
await runJobs(order, availableParallelism() + MORE_WORKERS, (result) => {
  results.push(result);
  console.log(fileLines(result, results.length, all));
});
const counts = countsOf(results);
const minutes = ((performance.now() - began) / 60_000).toFixed(1);
console.log(summary(results, counts, `This took ${minutes} minutes.${notRun()}`));
process.exitCode = counts.failed === 0 ? 0 : 1;

/** Compiles the contracts, if their build output is missing or old. What it says goes to stderr. */
async function compile(): Promise<void> {
  const child = spawn(process.execPath, ["scripts/setup/run.mjs", "--build"], { stdio: "inherit" });
  const [code] = (await once(child, "close")) as [number | null];
  if (code === 0) return;
  console.log("\n0 passed, 1 failed");
  process.exit(1);
}

function notRun(): string {
  if (tier === "long" || left.length === 0) return "";
  const again = left.filter(({ place }) => place !== "sqlite").length;
  const files = left.length - again;
  return ` Not run: ${files.toString()} files of the long tier (what kills, pauses or restarts processes, waits long, or computes much), and ${again.toString()} files on PostgreSQL. Run them: ${command("long")}`;
}

function command(tier: Tier): string {
  const names = positionals.length === 0 ? "" : ` -- ${positionals.join(" ")}`;
  return `npm ${tier === "long" ? "run test:long" : "test"}${names}`;
}

/** The Mocha files, and one line for the tests in Solidity. */
function contractFiles(): number {
  return globSync(`${CONTRACTS}/**/*.test.ts`).length + 1;
}

/**
 * A folder in memory for what the tests of this run write. Their databases write to the disk with each commit, and most tests wait
 * for that: without it a run takes three quarters of the time.
 * @returns null where there is no such place, or not enough memory. Then the tests use the folder for temporary files.
 */
function memoryFolder(): { path: string; remove: () => void } | null {
  if (!existsSync(MEMORY)) return null;
  for (const name of readdirSync(MEMORY)) {
    const pid = LEFT.exec(name)?.[1];
    // The folder of a run that was killed is still there.
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(MEMORY);
  if (bavail * bsize < ROOM || freemem() < FREE) return null;
  const path = mkdtempSync(join(MEMORY, `moneta-tests-${process.pid.toString()}-`));
  // PostgreSQL, which does not run as root, must be able to enter it.
  chmodSync(path, 0o755);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
