/** What all rounds of one fault came to. */
export interface Line {
  fault: string;
  runs: number;
  /** How often the fault really struck. */
  struck: number;
  requests: number;
  completed: number;
  failed: number;
  lost: number;
  doubled: number;
  stuck: number;
  other: number;
}

const COLUMNS = ["runs", "struck", "requests", "completed", "failed", "lost", "doubled", "stuck", "other"] as const;
type Counts = Record<(typeof COLUMNS)[number], number>;

export const NOTHING: Readonly<Counts> = {
  runs: 0,
  struck: 0,
  requests: 0,
  completed: 0,
  failed: 0,
  lost: 0,
  doubled: 0,
  stuck: 0,
  other: 0,
};

export function summarise(lines: Line[]): Counts {
  const total: Counts = { ...NOTHING };
  for (const line of lines) for (const column of COLUMNS) total[column] += line[column];
  return total;
}

export function table(lines: Line[]): string {
  const rows = [
    ["fault", ...COLUMNS],
    ...lines.map((line) => [line.fault, ...COLUMNS.map((column) => line[column].toString())]),
  ];
  const widths = ["fault", ...COLUMNS].map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join("  "),
    )
    .join("\n");
}
