import type { Request } from "express";

import { ApiError } from "../../domain/error-codes.ts";

/** A row as it is sent: its fields in the order of the columns. */
export type ExportRow = Readonly<Record<string, string | number | boolean | null>>;

/** How rows become text. */
export interface RowFormat {
  /** Media type of the answer, without parameters. */
  type: "application/x-ndjson" | "text/csv";
  /** End of a file's name. */
  extension: string;
  /** What comes before the first row. */
  head(columns: readonly string[]): string;
  row(row: ExportRow): string;
}

const NDJSON: RowFormat = {
  type: "application/x-ndjson",
  extension: "ndjson",
  head: () => "",
  row: (row) => `${JSON.stringify(row)}\n`,
};

/** RFC 4180. Texts are quoted, so that an empty field is null and never an empty text. */
const CSV: RowFormat = {
  type: "text/csv",
  extension: "csv",
  head: (columns) => `${columns.join(",")}\r\n`,
  row: (row) => `${Object.values(row).map(cell).join(",")}\r\n`,
};

/**
 * Spreadsheets run a cell that begins with one of these, also in quotes. Users of an app may choose their names. An apostrophe is
 * among them, so that a program gets the name back when it removes one.
 */
const RUNS = /^[=+\-@＝＋－＠\t\r\n']/;

function cell(value: ExportRow[string]): string {
  if (typeof value !== "string") return value === null ? "" : value.toString();
  const shown = RUNS.test(value) ? `'${value}` : value;
  return `"${shown.replaceAll('"', '""')}"`;
}

/** The format that the caller prefers. @throws ApiError `validation_failed` when the caller takes neither. */
export function formatOf(request: Request): RowFormat {
  const type = request.accepts([NDJSON.type, CSV.type]);
  if (type !== false) return type === CSV.type ? CSV : NDJSON;
  const message = `Must allow \`${NDJSON.type}\` or \`${CSV.type}\`. Without this header the answer is \`${NDJSON.type}\`.`;
  throw new ApiError("validation_failed", [{ field: "Accept", code: "invalid", message }]);
}
