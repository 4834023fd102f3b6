import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { addCounts, type Counts, judgePart, readCounts, summaryLine } from "./counts.ts";

/** `npm test [-- contracts | api | scripts ...]` runs all tests or the named parts. The last line is `N passed, N failed[, N skipped]`. */

interface Part {
  name: string;
  /** The files in which the part's runners write their counts. */
  counted: string[];
  args(folder: string): string[];
}

const PARTS: Part[] = [
  {
    name: "contracts",
    counted: ["solidity.json", "contracts.json"],
    args: (folder) => ["scripts/test/contracts.ts", folder],
  },
  mochaPart("api", "test/api/**/*.test.ts"),
  mochaPart("scripts", "test/scripts/**/*.test.ts"),
];

function mochaPart(name: string, files: string): Part {
  const counted = `${name}.json`;
  return {
    name,
    counted: [counted],
    args: (folder) => [
      "node_modules/mocha/bin/_mocha",
      "--forbid-only",
      "--reporter=scripts/test/reporter.cjs",
      `--reporter-option=counts=${join(folder, counted)}`,
      files,
    ],
  };
}

/** Longest run of one part. A part that takes longer is stopped: it hangs. */
const PART_TIMEOUT_MS = 15 * 60_000;
/** How long a runner may keep running after its last test. It hangs when a test left a handle open. */
const LINGER_MS = 30_000;
const LOOK_MS = 1_000;

function chooseParts(names: string[]): Part[] {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0) {
    console.error(
      `Unknown part of the tests: ${unknown.join(", ")}. The parts are ${PARTS.map(({ name }) => name).join(", ")}.`,
    );
    process.exit(2);
  }
  return names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
}

async function runPart(part: Part, folder: string): Promise<Counts> {
  console.log(`\n=== ${part.name} ===\n`);
  function count(): (Counts | undefined)[] {
    return part.counted.map((file) => readCounts(join(folder, file)));
  }
  const endedWell = await runProcess(part.args(folder), () => !count().includes(undefined));
  const { counts, problem } = judgePart(count(), endedWell);
  if (problem !== null) console.log(`${part.name}: ${problem}`);
  console.log(`${part.name}: ${summaryLine(counts)}`);
  return counts;
}

/** Runs a program and kills it if it hangs. @returns whether it ended by itself with exit code 0. */
function runProcess(args: string[], isDone: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ["--import", "tsx", ...args], { stdio: ["ignore", "inherit", "inherit"] });
    const started = performance.now();
    let doneSince: number | null = null;
    const watch = setInterval(() => {
      const now = performance.now();
      doneSince ??= isDone() ? now : null;
      if (doneSince !== null && now - doneSince > LINGER_MS)
        give("its tests are done, but a handle that they left open keeps it running");
      else if (now - started > PART_TIMEOUT_MS) give("it ran for more than 15 minutes");
    }, LOOK_MS);
    function give(reason: string): void {
      console.log(`Killed the test runner: ${reason}.`);
      child.kill("SIGKILL");
    }
    child.once("error", (error) => {
      console.log(`The test runner did not start: ${error.message}`);
      clearInterval(watch);
      resolve(false);
    });
    child.once("exit", (code) => {
      clearInterval(watch);
      resolve(code === 0);
    });
  });
}

const parts = chooseParts(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "moneta-test-"));
const counts: Counts[] = [];
try {
  for (const part of parts) counts.push(await runPart(part, folder));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const total = addCounts(counts);
console.log(`\n${summaryLine(total)}`);
process.exitCode = total.failed === 0 ? 0 : 1;
