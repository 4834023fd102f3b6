import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";

import { z } from "zod";

import { Program } from "../scene/program.ts";

/** A small, plausible mistake, and the tests that must notice it. */
export interface Defect {
  name: string;
  /** What callers or operators are promised, and lose with the mistake. */
  promise: string;
  file: string;
  /** Text that the file has exactly once. */
  find: string;
  replace: string;
  /** One to three test files. */
  tests: readonly string[];
  /** Default: SQLite. */
  engine?: "postgres";
}

/** How a run of tests ended. `by`: the first test that failed, or that there was no end. Null: the tests could not be run. */
type Outcome = { passed: true } | { passed: false; by: string | null; output: string };

const MOCHA = "node_modules/mocha/bin/mocha.js";
/** Longest run of the tests of one defect, in milliseconds. A defect that makes them hang is found. */
const RUN_TIMEOUT = 240_000;
/** Longest time of one test, in milliseconds, as long as the test itself says nothing else. */
const TEST_TIMEOUT = 100_000;
/** Folders that the copy shares, and folders that it does not need. */
const SHARED = ["node_modules", "artifacts"];
const LEFT_OUT = [...SHARED, ".git", "cache", "coverage", "data", "dist", "secrets"];

const report = z.object({ failures: z.array(z.object({ fullTitle: z.string() })) });

/**
 * Plants the defects one after the other in a copy of the project, and runs their tests. The tests must pass without a defect.
 * @returns whether each defect was found.
 * @throws Error when the text of a defect is not in its file exactly once: the list is stale.
 */
export async function tryDefects(
  root: string,
  defects: readonly Defect[],
  say: (line: string) => void,
): Promise<boolean> {
  requireFresh(root, defects);
  const folder = copyOf(root);
  try {
    if (!(await passesUnchanged(folder, defects, say))) return false;
    let found = 0;
    for (const defect of defects) if (await isFound(folder, defect, say)) found += 1;
    say(`${found.toString()} of ${defects.length.toString()} defects found.`);
    return found === defects.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws Error when a defect cannot be planted any more */
export function requireFresh(root: string, defects: readonly Defect[]): void {
  for (const defect of defects) planted(root, defect);
}

/** The file with the defect. @throws Error */
function planted(root: string, { name, file, find, replace }: Defect): string {
  const parts = readFileSync(join(root, file), "utf8").split(find);
  if (parts.length !== 2)
    throw new Error(
      `The list is stale: ${file} has the text of the defect ${name} ${(parts.length - 1).toString()} times instead of once.`,
    );
  return parts.join(replace);
}

function copyOf(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), "moneta-defects-"));
  cpSync(root, folder, {
    recursive: true,
    filter: (path) => !LEFT_OUT.includes(relative(root, path).split(sep)[0] ?? ""),
  });
  for (const name of SHARED) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

async function passesUnchanged(
  folder: string,
  defects: readonly Defect[],
  say: (line: string) => void,
): Promise<boolean> {
  for (const [engine = "sqlite", some] of Map.groupBy(defects, (defect) => defect.engine)) {
    const tests = [...new Set(some.flatMap((defect) => defect.tests))];
    say(`Without a defect, on ${engine}: ${tests.length.toString()} test files.`);
    const outcome = await runTests(folder, tests, engine, tests.length * RUN_TIMEOUT);
    if (outcome.passed) continue;
    say(outcome.output);
    say(`The tests fail without any defect: ${outcome.by ?? "they cannot be run"}`);
    return false;
  }
  return true;
}

async function isFound(folder: string, defect: Defect, say: (line: string) => void): Promise<boolean> {
  const { name, file, tests, engine = "sqlite", promise } = defect;
  const path = join(folder, file);
  const text = readFileSync(path, "utf8");
  writeFileSync(path, planted(folder, defect));
  const began = performance.now();
  const outcome = await runTests(folder, tests, engine, RUN_TIMEOUT);
  writeFileSync(path, text);
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  const by = outcome.passed ? null : outcome.by;
  if (by !== null) say(`${name}: found by "${by}", ${seconds} s`);
  else if (outcome.passed) say(`${name}: NOT FOUND by ${tests.join(", ")}, ${seconds} s. ${promise}`);
  else say(`${outcome.output}\n${name}: NOT FOUND, because the tests cannot be run with it, ${seconds} s`);
  return by !== null;
}

/** Runs test files until one test fails. */
async function runTests(folder: string, tests: readonly string[], engine: string, timeout: number): Promise<Outcome> {
  const file = join(folder, "report.json");
  rmSync(file, { force: true });
  const reporting = ["--reporter", "json", "--reporter-option", `output=${file}`];
  const mocha = new Program([MOCHA, "--bail", "--timeout", TEST_TIMEOUT.toString(), ...reporting, ...tests], {
    cwd: folder,
    env: { ...process.env, TEST_ENGINE: engine },
    group: true,
  });
  const timer = setTimeout(() => {
    mocha.signal("SIGKILL");
  }, timeout);
  const ended = await mocha.gone();
  clearTimeout(timer);
  if (ended === 0) return { passed: true };
  const { output } = mocha;
  const by = ended === "SIGKILL" ? `no end within ${(timeout / 1_000).toString()} s` : firstFailure(file);
  return { passed: false, by, output };
}

/** Null: Mocha ended before it wrote its report, for example because a file cannot be loaded. */
function firstFailure(file: string): string | null {
  try {
    return report.parse(JSON.parse(readFileSync(file, "utf8"))).failures[0]?.fullTitle ?? null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
}
