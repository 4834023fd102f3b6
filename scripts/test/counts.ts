import { readFileSync } from "node:fs";

import { z } from "zod";

const number = z.number().int().nonnegative();
const countsSchema = z.strictObject({
  passed: number,
  failed: number,
  skipped: number,
  /** The titles of failed tests, each with its reason. */
  failures: z.array(z.string()),
});

export type Counts = z.infer<typeof countsSchema>;

/** Reads the counts that a test runner wrote, or returns undefined if there are none. */
export function readCounts(path: string): Counts | undefined {
  try {
    return countsSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return undefined;
  }
}

export function addCounts(all: Counts[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, skipped: 0, failures: [] };
  for (const { passed, failed, skipped, failures } of all) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
    sum.failures.push(...failures);
  }
  return sum;
}

/**
 * Adds up the counts of one part's runners. Adds one failure if a runner wrote no counts, if a runner failed although no
 * test did, or if no test ran.
 */
export function judgePart(
  counted: (Counts | undefined)[],
  endedWell: boolean,
): { counts: Counts; problem: string | null } {
  const counts = addCounts(counted.filter((entry) => entry !== undefined));
  const problem = findProblem(counted, counts, endedWell);
  if (problem === null) return { counts, problem };
  return { counts: { ...counts, failed: counts.failed + 1, failures: [...counts.failures, problem] }, problem };
}

function findProblem(counted: (Counts | undefined)[], counts: Counts, endedWell: boolean): string | null {
  if (counted.includes(undefined)) return "a test runner ended before it wrote its counts";
  if (!endedWell && counts.failed === 0) return "a test runner failed although no test failed";
  if (counts.passed + counts.failed === 0) return "no test ran";
  return null;
}

/** The failures of all parts, again: the reports above them are long. */
export function failureList(parts: { name: string; counts: Counts }[]): string[] {
  return parts.flatMap(({ name, counts }) => counts.failures.map((failure) => `  ${name}: ${failure}`));
}

/** The last line of `npm test`. */
export function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed.toString()} passed, ${failed.toString()} failed`;
  return skipped === 0 ? line : `${line}, ${skipped.toString()} skipped`;
}
