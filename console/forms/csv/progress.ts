/** How far one row is. */
export type RowState =
  | { is: "waiting" }
  /** In a batch whose answer is not known. */
  | { is: "sent"; key: string }
  | { is: "accepted"; requestId: string }
  | { is: "completed"; requestId: string; tokenId: string | null }
  /** `requestId` is null when the row was refused at once. */
  | { is: "failed"; requestId: string | null; column: string | null; message: string };

export interface SentBatch {
  key: string;
  rows: readonly number[];
}

/** What a run has done so far. It is stored after each step, so that a reload of the page loses nothing. */
export interface Progress {
  version: typeof VERSION;
  /** Begins the idempotency keys of the run. */
  id: string;
  startedAt: string;
  /** How many batches were sent: the next one gets the next number. */
  batches: number;
  /** The batch whose answer is not known. */
  open: SentBatch | null;
  /** Most rows of the next batch. Smaller after a batch that was refused, so that the row that is the reason is found. */
  most: number;
  rows: RowState[];
}

/** A later form of `Progress` gets another number. */
const VERSION = 1;

export function newProgress(id: string, rows: number, now: Date): Progress {
  return {
    version: VERSION,
    id,
    startedAt: now.toISOString(),
    batches: 0,
    open: null,
    most: Number.MAX_SAFE_INTEGER,
    rows: Array.from({ length: rows }, () => ({ is: "waiting" })),
  };
}

/** Positions of the rows in one of these states. */
export function rowsIn({ rows }: Progress, ...states: RowState["is"][]): number[] {
  return rows.flatMap(({ is }, index) => (states.includes(is) ? [index] : []));
}

/** Replaces the states of some rows. */
export function withRows(progress: Progress, changes: ReadonlyMap<number, RowState>): Progress {
  return { ...progress, rows: progress.rows.map((row, index) => changes.get(index) ?? row) };
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
  const progress = JSON.parse(text) as Omit<Progress, "version"> & { version: number };
  const isOld = now.getTime() - Date.parse(progress.startedAt) > KEEPS;
  if (progress.version === VERSION && progress.rows.length === rows && !isOld) return { ...progress, version: VERSION };
  store.removeItem(name);
  return null;
}

/** Stores a run. @returns false when the browser has no room: the run then lasts only as long as the page. */
export function saveProgress(store: Store, name: string, progress: Progress): boolean {
  try {
    store.setItem(name, JSON.stringify(progress));
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
