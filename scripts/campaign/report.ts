/** Totals of all rounds with one fault. */
export interface Line {
  fault: string;
  runs: number;
  /** How often the fault took effect. */
  injected: number;
  requests: number;
  completed: number;
  failed: number;
  lost: number;
  duplicated: number;
  wrong: number;
  stuck: number;
  other: number;
  /** The longest that work waited, in seconds; null: no request of the rounds was completed. */
  seconds: number | null;
}

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
export const ZERO: Readonly<Counts> = {
  runs: 0,
  injected: 0,
  requests: 0,
  completed: 0,
  failed: 0,
  lost: 0,
  duplicated: 0,
  wrong: 0,
  stuck: 0,
  other: 0,
};

export function summarise(lines: Line[]): Counts {
  const total: Counts = { ...ZERO };
  for (const line of lines) for (const column of COLUMNS) total[column] += line[column];
  return total;
}

export function table(lines: Line[]): string {
  const rows = [
    ["fault", ...COLUMNS, "seconds"],
    ...lines.map((line) => [
      line.fault,
      ...COLUMNS.map((column) => line[column].toString()),
      line.seconds?.toFixed(1) ?? "-",
    ]),
  ];
  const widths = ["fault", ...COLUMNS, "seconds"].map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
