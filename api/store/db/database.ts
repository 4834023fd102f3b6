import { fileURLToPath } from "node:url";
import { resolve } from "node:path";

import type { Metrics } from "../../shared/metrics.ts";
import { concurrentCommits } from "./postgres/concurrent-writes.ts";
import { isPostgres } from "./errors.ts";
import { type Db, inSnapshot, type Trx } from "./sql.ts";
import { groupCommits } from "./sqlite/group-commit.ts";
import { migrate } from "./migrate.ts";
import { type OpenMode, openSqlite } from "./sqlite/sqlite.ts";
import { Writes } from "./writes.ts";

/**
 * The database. `read` sees committed rows only. `write` runs one operation atomically and returns after its commit.
 *
 * An operation must await nothing but its transaction. It may run several times, and only its last run counts: PostgreSQL
 * ends one of two transactions that wait for each other. So it must not change anything outside of its transaction.
 */
export interface Database {
  readonly read: Db;
  /** Runs several reads on one snapshot. The other reads do not wait for them. */
  snapshot<T>(reads: (db: Db) => Promise<T>): Promise<T>;
  write<T>(operation: (trx: Trx) => Promise<T>): Promise<T>;
  /** Like `write`, for an operation that stands for a group of calls already: it does not wait for others to join. */
  writeGroup<T>(operation: (trx: Trx) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

interface DatabaseOptions {
  /** PostgreSQL: most connections. */
  connections?: number | undefined;
  /** PostgreSQL: called when a connection is lost. */
  onConnectionLost?: ((error: Error) => void) | undefined;
  /** Measures statements and writes. */
  metrics?: Pick<Metrics, "database"> | undefined;
}

/** Connections of a command, or of a test. */
const FEW_CONNECTIONS = 4;

/**
 * Opens the database, creates it if there is none, and brings its schema up to date.
 * @param url `file:<path>` (SQLite) or `postgres://...`. A PostgreSQL database must exist; its tables need not.
 * @throws DatabaseError
 */
export function openDatabase(url: string, options: DatabaseOptions = {}): Promise<Database> {
  return open(url, "create", options);
}

/**
 * Opens a database that must exist. For commands that read: on a wrong path they fail, and leave nothing behind.
 * @throws DatabaseMissing, DatabaseError
 */
export function openExistingDatabase(url: string): Promise<Database> {
  return open(url, "existing", {});
}

function open(url: string, mode: OpenMode, options: DatabaseOptions): Promise<Database> {
  return isPostgres(url) ? openOnPostgres(url, mode, options) : openOnSqlite(url, mode, options);
}

async function openOnSqlite(url: string, mode: OpenMode, { metrics }: DatabaseOptions): Promise<Database> {
  const { writer, checkpoints, reader, snapshotReader } = openSqlite(pathOf(url), mode, metrics);
  await migrateOrClose(writer);
  const read = reader();
  const writes = new Writes(groupCommits(writer, checkpoints), metrics);
  return {
    ...databaseOf(read.db, writes, async () => {
      await read.close();
      await writer.destroy();
    }),
    // On a connection of its own, because a transaction keeps it from other reads.
    snapshot: async (reads) => {
      const { db, close } = snapshotReader();
      try {
        return await inSnapshot(db, reads);
      } finally {
        await close();
      }
    },
  };
}

async function openOnPostgres(url: string, mode: OpenMode, options: DatabaseOptions): Promise<Database> {
  const { connections = FEW_CONNECTIONS, onConnectionLost, metrics } = options;
  // `pg` takes part of a start, and SQLite does not need it.
  const { openPostgres } = await import("./postgres/open.ts");
  const db = await openPostgres(url, mode, { connections, onConnectionLost, metrics });
  await migrateOrClose(db);
  // The other half is for reads.
  const writes = new Writes(concurrentCommits(db, Math.max(1, Math.floor(connections / 2))), metrics);
  return {
    ...databaseOf(db, writes, () => db.destroy()),
    snapshot: (reads) => inSnapshot(db, reads),
  };
}

function databaseOf(read: Db, writes: Writes, close: () => Promise<void>): Omit<Database, "snapshot"> {
  return {
    read,
    write: (operation) => writes.run(operation),
    writeGroup: (operation) => writes.runGroup(operation),
    close: async () => {
      await writes.drained();
      await close();
    },
  };
}

async function migrateOrClose(db: Db): Promise<void> {
  try {
    await migrate(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

export function pathOf(url: string): string {
  return url.startsWith("file://") ? fileURLToPath(url) : resolve(url.slice("file:".length));
}
