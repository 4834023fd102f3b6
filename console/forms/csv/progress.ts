import { type BulkItem, type BulkProgress, type BulkWarning, newProgress } from "../../../client/bulk-progress.ts";
import { columnOf } from "./items.ts";
import type { TableRow } from "../../../client/drop/table.ts";

/** What a run has done so far. It is stored after each step, so that a reload of the page loses nothing. */
export interface Progress {
  startedAt: string;
  /** The rows are its items, in the order of the table. The bulk mint of the client goes on with it. */
  minting: BulkProgress;
}

/** @param id random. The idempotency keys of the run begin with it. */
export function newRun(id: string, rows: number, now: Date): Progress {
  const minting = newProgress(`import-${id}`);
  minting.items = Array.from({ length: rows }, () => ({ is: "waiting" }));
  return { startedAt: now.toISOString(), minting };
}

export type FailedRow = Extract<BulkItem, { is: "failed" }>;

/** What is wrong with a row. @returns the column that shows it; null: none does */
export function problemOf(failed: FailedRow, row: TableRow | undefined): { column: string | null; message: string } {
  const { requestId, message, errors, status } = failed;
  if (requestId !== null) {
    const details = errors.map(({ field, message: problem }) => `${field}: ${problem}`);
    return { column: null, message: [message, ...details].join(" ") };
  }
  const [first] = errors;
  if (first === undefined || status !== null) return { column: null, message };
  return { column: columnOf(first.field, row), message: first.message };
}

/** What is stored. A run that an earlier version of the console has stored is continued, so this form stays. */
interface Stored {
  version: number;
  id: string;
  startedAt: string;
  batches: number;
  open: { key: string; rows: number[] } | null;
  most: number;
  rows: StoredRow[];
  /** Absent when there are none, and in runs of 0.3.0. */
  warnings?: BulkWarning[];
}

type StoredRow =
  | Exclude<BulkItem, { is: "failed" }>
  | { is: "failed"; requestId: string | null; column: string | null; message: string };

/** A later form of `Stored` gets another number. */
const VERSION = 1;

function stored({ startedAt, minting }: Progress, table: readonly TableRow[]): Stored {
  const { name, batches, open, most, items, warnings } = minting;
  return {
    version: VERSION,
    id: name.slice("import-".length),
    startedAt,
    batches,
    // One batch at a time is sent. Its bodies follow from the table.
    open: open[0] === undefined ? null : { key: open[0].key, rows: open[0].items },
    most,
    ...(warnings !== undefined && { warnings }),
    rows: items.map((item, row) =>
      item.is === "failed" ? { is: item.is, requestId: item.requestId, ...problemOf(item, table[row]) } : item,
    ),
  };
}

function restored({ id, startedAt, batches, open, most, rows, warnings }: Stored): Progress {
  const at = Date.parse(startedAt);
  const minting = {
    name: `import-${id}`,
    batches,
    open: open === null ? [] : [{ key: open.key, items: open.rows, bodies: [], at }],
    most,
    ...(warnings !== undefined && { warnings }),
    items: rows.map((row): BulkItem => {
      if (row.is !== "failed") return row;
      const { is, requestId, column, message } = row;
      const errors = column === null ? [] : [{ field: column, code: "", message }];
      return { is, requestId, code: null, message, errors, status: null };
    }),
  };
  return { startedAt, minting };
}

/** The part of the browser's storage that a run needs. */
export interface Store {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** The service keeps idempotency keys for a week at least. A run that is older cannot be continued safely. */
const KEEPS = 6 * 86_400_000;

/** The stored run of the same rows; null when there is none. */
export function readProgress(store: Store, name: string, rows: number, now: Date): Progress | null {
  const text = store.getItem(name);
  if (text === null) return null;
  const run = JSON.parse(text) as Stored;
  const isOld = now.getTime() - Date.parse(run.startedAt) > KEEPS;
  if (run.version === VERSION && run.rows.length === rows && !isOld) return restored(run);
  store.removeItem(name);
  return null;
}

/** Stores a run. @returns false when the browser has no room: the run then lasts only as long as the page. */
export function saveProgress(
  store: Store,
  name: string,
  { progress, table }: { progress: Progress; table: readonly TableRow[] },
): boolean {
  try {
    store.setItem(name, JSON.stringify(stored(progress, table)));
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Names a run after everything that its bodies depend on. Equal names with different bodies are refused by the service. */
export function nameOfRun(parts: readonly string[]): string {
  const text = JSON.stringify(parts);
  // FNV-1a with 64 bits. `crypto.subtle` does not exist on pages without TLS.
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(text)) {
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  }
  return `moneta-import-${hash.toString(16)}`;
}
