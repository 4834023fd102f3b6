import { firstChunk } from "./chunks.ts";
import type { Item } from "./items.ts";
import { type Progress, type RowState, rowsIn, type SentBatch, withRows } from "./progress.ts";

/** One entry of `results` in the answer to a batch. */
export interface BatchResult {
  request_id?: string;
  error_code?: string;
  message?: string;
  errors?: readonly { field: string; message: string }[] | null;
}

/** What became of a call with a batch. */
export type BatchAnswer =
  | { is: "answered"; results: readonly BatchResult[]; retryAfter: number | null }
  /** The service took nothing of it, because of what it holds. */
  | { is: "refused"; message: string }
  /** It may have been taken. */
  | { is: "unknown"; message: string };

export interface RunTools {
  items: readonly Item[];
  /** Rows that are not sent, because something is wrong in them. They wait for another time. */
  skip?: ReadonlyMap<number, unknown>;
  send(batch: SentBatch, items: readonly Item[]): Promise<BatchAnswer>;
  /** Stores and shows the progress. */
  keep(progress: Progress): void;
  /** The column that shows an error of a field. */
  columnOf(row: number, field: string): string;
  wait(milliseconds: number): Promise<void>;
  signal: AbortSignal;
}

/** Why a run stopped before its end; null when every row was sent. */
export type Stopped = string | null;

/** Refused for lack of room, for now. The row goes into another batch. */
const TEMPORARY = ["unavailable", "quota_exceeded"];
/** Milliseconds to wait for room when the service does not say, and the longest wait. */
const NO_ROOM_WAIT = 5_000;
const LONGEST_WAIT = 120_000;

/**
 * Sends what is left of a run. A batch whose answer is not known is sent first, with the same key and body, so it gets its
 * answer, or mints now. Nothing is minted twice.
 */
export async function sendRows(start: Progress, tools: RunTools): Promise<Stopped> {
  let progress = start;
  const keep = (next: Progress) => {
    progress = next;
    tools.keep(next);
  };
  for (;;) {
    if (tools.signal.aborted) return "You stopped the import.";
    const waiting = rowsIn(progress, "waiting").filter((row) => tools.skip?.has(row) !== true);
    const batch = progress.open ?? nextBatch(progress, waiting, tools.items);
    if (batch === null) return null;
    // Stored before it is sent: whoever continues then knows the key.
    if (progress.open === null) keep(withOpen(progress, batch));
    const answer = await tools.send(
      batch,
      batch.rows.map((row) => tools.items[row] ?? {}),
    );
    if (answer.is === "unknown") return answer.message;
    keep(
      answer.is === "refused"
        ? withRefusal(progress, batch, answer.message)
        : withResults(progress, batch, answer.results, tools),
    );
    if (answer.is === "refused" || !batch.rows.some((row) => progress.rows[row]?.is === "waiting")) continue;
    const wait = answer.retryAfter ?? NO_ROOM_WAIT;
    if (wait > LONGEST_WAIT)
      return "The service has no room for more tokens: a quota is used up, or too many requests wait. Continue later.";
    await tools.wait(wait);
  }
}

function nextBatch(progress: Progress, waiting: readonly number[], items: readonly Item[]): SentBatch | null {
  if (waiting.length === 0) return null;
  const rows = firstChunk(waiting, items, progress.most);
  return { key: `import-${progress.id}-${progress.batches.toString()}`, rows };
}

function withOpen(progress: Progress, batch: SentBatch): Progress {
  const sent = new Map<number, RowState>(batch.rows.map((row) => [row, { is: "sent", key: batch.key }]));
  return { ...withRows(progress, sent), open: batch, batches: progress.batches + 1 };
}

/** A row that is refused alone is wrong. Several rows go into smaller batches. */
function withRefusal(progress: Progress, { rows }: SentBatch, message: string): Progress {
  const state: RowState =
    rows.length === 1 ? { is: "failed", requestId: null, column: null, message } : { is: "waiting" };
  const most = Math.max(1, Math.floor(rows.length / 2));
  return { ...withRows(progress, new Map(rows.map((row) => [row, state]))), open: null, most };
}

function withResults(
  progress: Progress,
  { rows }: SentBatch,
  results: readonly BatchResult[],
  { columnOf }: Pick<RunTools, "columnOf">,
): Progress {
  const states = rows.map((row, index): [number, RowState] => [
    row,
    stateOf(results[index], (field) => columnOf(row, field)),
  ]);
  const most = Math.min(Number.MAX_SAFE_INTEGER, progress.most * 2);
  return { ...withRows(progress, new Map(states)), open: null, most };
}

function stateOf(result: BatchResult | undefined, columnOf: (field: string) => string): RowState {
  if (result === undefined) throw new Error("a batch has one result for each item");
  if (result.request_id !== undefined) return { is: "accepted", requestId: result.request_id };
  if (TEMPORARY.includes(result.error_code ?? "")) return { is: "waiting" };
  const [first] = result.errors ?? [];
  return {
    is: "failed",
    requestId: null,
    column: first === undefined ? null : columnOf(first.field),
    message: first?.message ?? result.message ?? "The service refused this row.",
  };
}
