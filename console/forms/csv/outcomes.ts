import { csvLine } from "./parse.ts";
import { type Progress, type RowState, rowsIn, withRows } from "./progress.ts";
import { ERROR, type Table } from "./table.ts";

/** What a run needs of a request that is final. */
export interface FinalRequest {
  request_id: string;
  status: string;
  nft_token_id: number | string | null;
  /** Why it failed, as a sentence. */
  error_message: string | null;
  errors?: readonly { field: string; message: string }[] | null;
}

/** Writes the ends of requests into the rows. */
export function withOutcomes(progress: Progress, requests: readonly FinalRequest[]): Progress {
  const rows = new Map(
    progress.rows.flatMap((row, index) => (row.is === "accepted" ? [[row.requestId, index] as const] : [])),
  );
  const changes = requests.flatMap((request): [number, RowState][] => {
    const row = rows.get(request.request_id);
    const state = outcomeOf(request);
    return row === undefined || state === null ? [] : [[row, state]];
  });
  return changes.length === 0 ? progress : withRows(progress, new Map(changes));
}

function outcomeOf(request: FinalRequest): RowState | null {
  const { request_id: requestId, status, nft_token_id: id, error_message: failure, errors } = request;
  if (status === "completed") return { is: "completed", requestId, tokenId: id === null ? null : String(id) };
  if (status !== "failed") return null;
  const details = (errors ?? []).map(({ field, message }) => `${field}: ${message}`);
  const message = [failure ?? "The request failed.", ...details].join(" ");
  return { is: "failed", requestId, column: null, message };
}

/** The failed rows with the reasons, as a file that can be corrected and imported again. */
export function failedRowsFile(table: Table, progress: Progress): string {
  const reasons = rowsIn(progress, "failed").map((index): [number, string] => {
    const state = progress.rows[index];
    return [index, state?.is === "failed" ? messageOf(state) : ""];
  });
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

export function messageOf({ column, message }: Extract<RowState, { is: "failed" }>): string {
  return column === null ? message : `${column}: ${message}`;
}
