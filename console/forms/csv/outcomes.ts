import { csvLine } from "../../../client/drop/csv.ts";
import { type FailedRow, problemOf, type Progress } from "./progress.ts";
import { ERROR, type Table, type TableRow } from "../../../client/drop/table.ts";

/** The failed rows with the reasons, as a file that can be corrected and imported again. */
export function failedRowsFile(table: Table, progress: Progress): string {
  const reasons = progress.minting.items.flatMap((item, index): [number, string][] =>
    item.is === "failed" ? [[index, messageOf(item, table.rows[index])]] : [],
  );
  return rowsFile(table, new Map(reasons));
}

/** Some rows with a reason each, in a column of its own, which an import does not read. */
export function rowsFile({ columns, rows }: Table, reasons: ReadonlyMap<number, string>): string {
  const kept = columns.filter((column) => column !== ERROR);
  const lines = [...reasons].map(([index, reason]) => {
    const cells = kept.map((column) => rows[index]?.cells.get(column) ?? "");
    return csvLine([...cells, reason]);
  });
  return csvLine([...kept, ERROR]) + lines.join("");
}

export function messageOf(failed: FailedRow, row: TableRow | undefined): string {
  const { column, message } = problemOf(failed, row);
  return column === null ? message : `${column}: ${message}`;
}
