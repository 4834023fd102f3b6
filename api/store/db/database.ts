import { fileURLToPath } from "node:url";
import { resolve } from "node:path";

import type { Db, Trx } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { type OpenMode, openSqlite } from "./sqlite.ts";
import { GroupCommit } from "./group-commit.ts";
import type { WriteTurns } from "./write-turns.ts";

/**
 * The database. `read` sees committed rows only. `write` runs one operation atomically and returns after its commit. An
 * operation must await nothing but its transaction.
 */
export interface Database {
  readonly read: Db;
  write<T>(operation: (trx: Trx) => Promise<T>): Promise<T>;
  /** Like `write`, for an operation that stands for a group of calls already: it does not wait for others to join. */
  writeGroup<T>(operation: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * Opens the database, creates it if there is none, and brings its schema up to date.
 * @param url `file:<path>` (SQLite).
 * @param turns shared with the other threads of this process that write into it.
 * @throws DatabaseError
 */
export function openDatabase(url: string, turns: WriteTurns | null = null): Promise<Database> {
  return open(url, "create", turns);
}

/**
 * Opens a database that must exist. For commands that read: on a wrong path they fail, and leave nothing behind.
 * @throws DatabaseMissing, DatabaseError
 */
export function openExistingDatabase(url: string): Promise<Database> {
  return open(url, "existing", null);
}

async function open(url: string, mode: OpenMode, turns: WriteTurns | null): Promise<Database> {
  const { writer, reader } = openSqlite(pathOf(url), mode);
  try {
    await migrate(writer);
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  const read = reader();
  const commits = new GroupCommit(writer, turns);
  return {
    read,
    write: (operation) => commits.run(operation),
    writeGroup: (operation) => commits.run(operation, true),
    close: async () => {
      await commits.drained();
      await read.destroy();
      await writer.destroy();
    },
  };
}

function pathOf(url: string): string {
  return url.startsWith("file://") ? fileURLToPath(url) : resolve(url.slice("file:".length));
}
