import { fileURLToPath } from "node:url";
import { resolve } from "node:path";

import type { Db, Trx } from "./engine.ts";
import { migrate } from "./migrate.ts";
import { openSqlite } from "./sqlite.ts";
import { GroupCommit } from "./group-commit.ts";

/**
 * The database. `read` sees committed rows only; `write` runs one operation, all or nothing, and returns after its
 * commit. Operations must await nothing but their transaction.
 */
export interface Database {
  readonly read: Db;
  write<T>(operation: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** @param url `file:<path>` (SQLite). */
export async function openDatabase(url: string): Promise<Database> {
  const { writer, reader } = openSqlite(pathOf(url));
  try {
    await migrate(writer);
  } catch (error) {
    await writer.destroy();
    throw error;
  }
  const read = reader();
  const commits = new GroupCommit(writer);
  return {
    read,
    write: (operation) => commits.run(operation),
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
