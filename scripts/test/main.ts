import { spawn } from "node:child_process";
import { globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inOrder, type Output } from "./outputs.ts";
import { engineTests } from "./engine-tests.ts";
import { addCounts, type Counts, failureList, judgePart, readCounts, summaryLine } from "./counts.ts";

/**
 * `npm test [-- contracts | api | cli | postgres | scripts | console | examples ...]` runs all tests or the named parts. The last line is
 * `N passed, N failed[, N skipped]`.
 */

interface Part {
  name: string;
  /** The files in which the part's runners write their counts. */
  counted: string[];
  args(folder: string): string[];
  /** Environment variables in addition to those of this process. */
  env?: Record<string, string>;
  /** Runs only when it is named. */
  extra?: true;
}

const EVERY_API_TEST = "test/api/**/*.test.ts";
/** A part of its own only so that all lines of `SIDE_BY_SIDE` take about as long. */
const CLI_TESTS = "test/api/cli/**/*.test.ts";
const STORE_TESTS = "test/api/store/**/*.test.ts";
/** The tests that `npm test` runs on PostgreSQL too. */
const ON_BOTH = [STORE_TESTS, "test/api/pipeline/**/*.test.ts"];
const ON_POSTGRES = { TEST_ENGINE: "postgres" };

const PARTS: Part[] = [
  {
    name: "contracts",
    counted: ["solidity.json", "contracts.json"],
    args: (folder) => ["scripts/test/contracts.ts", folder],
  },
  mochaPart("api", () => globSync(EVERY_API_TEST, { exclude: [CLI_TESTS] }).sort()),
  mochaPart("cli", () => [CLI_TESTS]),
  { ...mochaPart("postgres", () => engineTests(ON_BOTH)), env: ON_POSTGRES },
  mochaPart("scripts", () => ["test/scripts/**/*.test.ts"]),
  mochaPart("console", () => ["test/console/**/*.test.ts"]),
  mochaPart("examples", () => ["test/examples/**/*.test.ts"]),
  // `npm run test:postgres`: with "postgres", all API tests that use a database, and the store's on a second version.
  {
    ...mochaPart("postgres-rest", theRest),
    env: ON_POSTGRES,
    extra: true,
  },
  {
    ...mochaPart("postgres-embedded", () => [STORE_TESTS]),
    env: { ...ON_POSTGRES, POSTGRES: "embedded" },
    extra: true,
  },
];

/** The API tests that use a database, without those that run on both engines in `npm test`. */
function theRest(): string[] {
  const onBoth = new Set(engineTests(ON_BOTH));
  return engineTests([EVERY_API_TEST]).filter((file) => !onBoth.has(file));
}

function mochaPart(name: string, files: () => string[]): Part {
  const counted = `${name}.json`;
  return {
    name,
    counted: [counted],
    args: (folder) => [
      "node_modules/mocha/bin/_mocha",
      "--forbid-only",
      "--reporter=scripts/test/reporter.cjs",
      `--reporter-option=counts=${join(folder, counted)}`,
      ...files(),
    ],
  };
}

/**
 * Parts that run at the same time. Each of these takes its parts one after the other. Tests wait for blocks and processes for
 * more than half of their time, so three keep the two cores of a CI machine busy.
 */
const SIDE_BY_SIDE = [
  ["api", "postgres-rest", "postgres-embedded"],
  ["postgres"],
  ["contracts", "cli", "scripts", "console", "examples"],
];
/**
 * A part that prints nothing for so long hangs, and is stopped. However slow the machine is, each test prints a line. It is longer
 * than the longest test may take, with its hooks.
 */
const SILENCE_MS = 25 * 60_000;
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
  return names.length === 0
    ? PARTS.filter(({ extra }) => extra !== true)
    : PARTS.filter(({ name }) => names.includes(name));
}

async function runPart(part: Part, folder: string, output: Output): Promise<Counts> {
  output.write(`\n=== ${part.name} ===\n\n`);
  function count(): (Counts | undefined)[] {
    return part.counted.map((file) => readCounts(join(folder, file)));
  }
  const endedWell = await runProcess(part, folder, output, () => !count().includes(undefined));
  const { counts, problem } = judgePart(count(), endedWell);
  if (problem !== null) output.write(`${part.name}: ${problem}\n`);
  output.write(`${part.name}: ${summaryLine(counts)}\n`);
  return counts;
}

/** Runs a program and kills it if it hangs. @returns whether it ended by itself with exit code 0. */
function runProcess(part: Part, folder: string, output: Output, isDone: () => boolean): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...part.args(folder)], {
      env: { ...process.env, ...part.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let lastOutput = performance.now();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (text: Buffer) => {
        lastOutput = performance.now();
        output.write(text.toString());
      });
    }
    let doneSince: number | null = null;
    const watch = setInterval(() => {
      const now = performance.now();
      doneSince ??= isDone() ? now : null;
      if (doneSince !== null && now - doneSince > LINGER_MS)
        give("its tests are done, but a handle that they left open keeps it running");
      else if (now - lastOutput > SILENCE_MS) give("it printed nothing for 25 minutes");
    }, LOOK_MS);
    function give(reason: string): void {
      output.write(`Killed the test runner: ${reason}.\n`);
      child.kill("SIGKILL");
    }
    child.once("error", (error) => {
      output.write(`The test runner did not start: ${error.message}\n`);
      clearInterval(watch);
      resolve(false);
    });
    // Not "exit": the rest of its output may still come.
    child.once("close", (code) => {
      clearInterval(watch);
      resolve(code === 0);
    });
  });
}

/** Runs parts one after the other. */
async function runInTurn(parts: Part[], folder: string, output: Output): Promise<{ name: string; counts: Counts }[]> {
  const counts: { name: string; counts: Counts }[] = [];
  for (const part of parts) counts.push({ name: part.name, counts: await runPart(part, folder, output) });
  output.end();
  return counts;
}

const parts = chooseParts(process.argv.slice(2));
const folder = mkdtempSync(join(tmpdir(), "moneta-test-"));
let results: { name: string; counts: Counts }[];
try {
  const lines = SIDE_BY_SIDE.map((names) => parts.filter(({ name }) => names.includes(name)));
  const outputs = inOrder(lines.length, (text) => process.stdout.write(text));
  results = (await Promise.all(outputs.map((output, index) => runInTurn(lines[index] ?? [], folder, output)))).flat();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const total = addCounts(results.map(({ counts }) => counts));
if (total.failed > 0) console.log(`\nFailed:\n${failureList(results).join("\n")}`);
console.log(`\n${summaryLine(total)}`);
process.exitCode = total.failed === 0 ? 0 : 1;
