import type { FileResult } from "./messages.ts";
import type { Place } from "./plan.ts";

/** What became of a file on an engine. */
export interface Result extends FileResult {
  place: Place;
}

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

const SLOWEST = 10;

/** One line for a file, and below it the full text of each failure. */
export function fileLines(result: Result, done: number, all: number): string {
  const { passed, failed, skipped, failures } = result;
  const width = all.toString().length;
  const counts = [`${passed.toString()} passed`];
  if (failed > 0) counts.push(`${failed.toString()} FAILED`);
  if (skipped > 0) counts.push(`${skipped.toString()} skipped`);
  const head = `[${done.toString().padStart(width)}/${all.toString()}] ${seconds(result)}  ${nameOf(result)}: ${counts.join(", ")}`;
  return [head, ...failures.map(({ text }) => `${text}\n`)].join("\n");
}

/** The ten slowest files, the titles of all failures, and what was not run. The very last line is {@link summaryLine}. */
export function summary(results: readonly Result[], counts: Counts, notRun: string): string {
  const slowest = results.toSorted((one, other) => other.seconds - one.seconds).slice(0, SLOWEST);
  const failed = results.flatMap((result) => result.failures.map(({ title }) => `  ${nameOf(result)}: ${title}`));
  return [
    ...[
      "",
      `The ${slowest.length.toString()} slowest:`,
      ...slowest.map((result) => `  ${seconds(result)}  ${nameOf(result)}`),
    ],
    ...(failed.length === 0 ? [] : ["", "Failed (the full texts are above):", ...failed]),
    ...(ranNone(results) ? ["", "No test ran."] : []),
    ...(notRun === "" ? [] : ["", notRun]),
    "",
    summaryLine(counts),
  ].join("\n");
}

/** The last line of `npm test`. */
function summaryLine({ passed, failed, skipped }: Counts): string {
  const line = `${passed.toString()} passed, ${failed.toString()} failed`;
  return skipped === 0 ? line : `${line}, ${skipped.toString()} skipped`;
}

/** The sums. A run without any test has failed: it shows nothing. */
export function countsOf(results: readonly Counts[]): Counts {
  const sum: Counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of results) {
    sum.passed += passed;
    sum.failed += failed;
    sum.skipped += skipped;
  }
  if (ranNone(results)) sum.failed = 1;
  return sum;
}

function ranNone(results: readonly Counts[]): boolean {
  return results.every(({ passed, failed }) => passed + failed === 0);
}

function seconds({ seconds }: FileResult): string {
  return `${seconds.toFixed(1).padStart(5)} s`;
}

function nameOf({ path, place }: Result): string {
  return place === "sqlite" ? path : `${path} (${place === "embedded" ? "embedded PostgreSQL" : "PostgreSQL"})`;
}
