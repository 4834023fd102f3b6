/** What one round of the campaign found. */
export interface RoundResult {
  requests: number;
  completed: number;
  failed: number;
  /** Accepted requests that the service does not know, or that lack the effect that their status claims. */
  lost: number;
  /** Effects on chain that no completed request accounts for, and requests with more than one final event. */
  duplicated: number;
  /** Completed requests whose transaction is not in the stored block on the chain, or did not make the token that they name. */
  wrong: number;
  /** Requests that were not final in time. */
  stuck: number;
  /** Any other broken invariant, one sentence each. */
  other: string[];
}

export function isClean(result: RoundResult): boolean {
  return result.lost + result.duplicated + result.wrong + result.stuck + result.other.length === 0;
}

/** `injected`: how often the fault took effect. */
const COLUMNS = [
  "runs",
  "injected",
  "requests",
  "completed",
  "failed",
  "lost",
  "duplicated",
  "wrong",
  "stuck",
  "other",
] as const;
type Counts = Record<(typeof COLUMNS)[number], number>;

/** Of no round. */
const NONE = Object.fromEntries(COLUMNS.map((column) => [column, 0])) as Counts;

/** Totals of all rounds with one fault. */
export interface Line extends Counts {
  fault: string;
  /** The longest that work waited, in seconds; null: no request of the rounds was completed. */
  seconds: number | null;
}

/** @param counts those that are not 0. */
export function lineOf(fault: string, counts: Partial<Counts> = {}): Line {
  return { ...NONE, ...counts, fault, seconds: null };
}

export function addTo(sums: Counts, counts: Counts): void {
  for (const column of COLUMNS) sums[column] += counts[column];
}

export function summarise(lines: Line[]): Counts {
  const total = { ...NONE };
  for (const line of lines) addTo(total, line);
  return total;
}

export function table(lines: Line[]): string {
  const head = ["fault", ...COLUMNS, "seconds"];
  const rows = lines.map((line) => [
    line.fault,
    ...COLUMNS.map((column) => line[column].toString()),
    line.seconds?.toFixed(1) ?? "-",
  ]);
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => (row[column] ?? "").length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
