import { nameOfRun, type Store } from "./progress.ts";
import { ERROR, type Table, type TableRow } from "../../../client/drop/table.ts";

/*
 * Rows that this browser has sent while other rows of their file were wrong. Somebody who corrects the whole file and chooses
 * it again has a new file, whose run knows nothing of the first one: these rows are then found here, by what is in them.
 */

interface SentFile {
  /** The run that has sent the rows. It may send them again: it does so under the same keys. */
  run: string;
  at: string;
  rows: string[];
}

/** Files and rows that are remembered, the newest ones. */
const [MOST_FILES, MOST_ROWS] = [20, 20_000];
/** As long as a run can be continued. */
const KEEPS = 6 * 86_400_000;

/** @param place names the app and the collection */
function keyOf(place: readonly string[]): string {
  return nameOfRun(["sent rows", ...place]);
}

function rowName({ cells }: TableRow): string {
  const filled = [...cells].filter(([column]) => column !== ERROR).sort(([a], [b]) => (a < b ? -1 : 1));
  return nameOfRun(filled.flat());
}

function readAll(store: Store, place: readonly string[], now: Date): SentFile[] {
  const stored = JSON.parse(store.getItem(keyOf(place)) ?? "[]") as SentFile[];
  return stored.filter(({ at }) => now.getTime() - Date.parse(at) <= KEEPS);
}

/** Remembers the rows before they are sent. @returns false when the browser has no room: then they must not be sent */
export function rememberRows(
  store: Store,
  place: readonly string[],
  { run, table, rows }: { run: string; table: Table; rows: readonly number[] },
  now: Date,
): boolean {
  const others = readAll(store, place, now).filter((file) => file.run !== run);
  const names = rows.flatMap((row) => (table.rows[row] === undefined ? [] : [rowName(table.rows[row])]));
  let left = MOST_ROWS;
  const kept = [{ run, at: now.toISOString(), rows: names }, ...others]
    .slice(0, MOST_FILES)
    .filter(({ rows: { length } }, index) => {
      left -= length;
      return index === 0 || left >= 0;
    });
  try {
    store.setItem(keyOf(place), JSON.stringify(kept));
    return true;
  } catch (error) {
    if (error instanceof DOMException) return false;
    throw error;
  }
}

/** Lines of the table whose rows another run has sent, each with the time of that run. */
export function sentBefore(
  store: Store,
  place: readonly string[],
  { run, table }: { run: string; table: Table },
  now: Date,
): Map<number, string> {
  const times = new Map<string, string>();
  for (const file of readAll(store, place, now)) {
    if (file.run !== run) for (const name of file.rows) times.set(name, file.at);
  }
  if (times.size === 0) return new Map();
  return new Map(
    table.rows.flatMap((row) => {
      const at = times.get(rowName(row));
      return at === undefined ? [] : [[row.line, at] as const];
    }),
  );
}
