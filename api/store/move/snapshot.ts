import BetterSqlite3 from "better-sqlite3";
import { Kysely, sql, SqliteDialect } from "kysely";

import { pathOf } from "../db/database.ts";
import { DatabaseError, DatabaseMissing, databaseName, isPostgres } from "../db/errors.ts";
import { requireRestoreFinished } from "../db/meta.ts";
import { openPostgres } from "../db/postgres/open.ts";
import type { Tables } from "../db/schema.ts";
import type { Db } from "../db/sql.ts";
import { readTables } from "./tables.ts";

/** One moment of a database. No migration runs, and nothing in the database is changed. */
export type Snapshot = SqliteSnapshot | PostgresSnapshot;

interface SqliteSnapshot {
  engine: "sqlite";
  db: Db;
  /** Copies the pages of the snapshot into a new file. */
  copyTo(file: string): Promise<void>;
  close(): Promise<void>;
}

interface PostgresSnapshot {
  engine: "postgres";
  db: Db;
  /** The name under which `pg_dump` reads the same snapshot, while this one is open. */
  name: string;
  /** Version of the server. */
  server: string;
  close(): Promise<void>;
}

/**
 * `shared`: others read and write meanwhile. `alone`: fails while a process uses the database, and nobody can write to it
 * until the snapshot is closed.
 */
type Access = "shared" | "alone";

/** Milliseconds to wait for a command that uses the database for a moment. */
const BUSY_TIMEOUT = 2_000;
/** Pages that are copied at once. Between them, the process can do something else. */
const PAGES = 4_096;

/** @throws DatabaseMissing, DatabaseError: it does not exist, or it is in use. */
export function openSnapshot(url: string, access: Access): Promise<Snapshot> {
  return isPostgres(url) ? openOnPostgres(url, access) : openOnSqlite(pathOf(url), access);
}

// eslint-disable-next-line @typescript-eslint/require-await -- the other engine has to wait
async function openOnSqlite(file: string, access: Access): Promise<SqliteSnapshot> {
  let connection: BetterSqlite3.Database | null = null;
  try {
    connection = new BetterSqlite3(file, { fileMustExist: true, timeout: BUSY_TIMEOUT });
    // In WAL mode `alone` takes the lock that every other connection holds a share of, even when it is idle. In a shared
    // snapshot writers go on, and their writes do not make a copy begin again.
    connection.pragma(access === "alone" ? "locking_mode = EXCLUSIVE" : "query_only = ON");
    connection.exec(access === "alone" ? "begin immediate" : "begin");
    // The first read fixes the snapshot.
    connection.prepare("select count(*) from sqlite_master").get();
  } catch (error) {
    connection?.close();
    throw cannotRead(file, error);
  }
  const opened = connection;
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: opened }) });
  return {
    engine: "sqlite",
    db,
    copyTo: async (target) => {
      await opened.backup(target, { progress: () => PAGES }).catch((error: unknown) => {
        throw notCopied(target, error);
      });
    },
    close: async () => {
      opened.exec("rollback");
      await db.destroy();
    },
  };
}

async function openOnPostgres(url: string, access: Access): Promise<PostgresSnapshot> {
  const alone = access === "alone";
  const pool = await openPostgres(url, "existing", { connections: 1, refusesPooler: alone });
  try {
    await requireRestoreFinished(pool);
    const tables = (await readTables(pool)).map(({ name }) => sql.table(name));
    const transaction = await pool.startTransaction().setIsolationLevel("repeatable read").execute();
    const close = async () => {
      await transaction.rollback().execute();
      await pool.destroy();
    };
    try {
      // The transaction waits while `pg_dump` works.
      await sql`set local statement_timeout = 0`.execute(transaction);
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
      // Before the first query: the transaction sees what was committed before that.
      if (alone) await sql`lock table ${sql.join(tables)} in share mode`.execute(transaction);
      if (alone && !(await becomesAlone(transaction))) throw inUse(databaseName(url));
      const { rows } = await sql<{ name: string; server: string }>`
        select pg_export_snapshot() as name, current_setting('server_version') as server`.execute(transaction);
      const [found] = rows;
      if (found === undefined) throw new Error("the server exported no snapshot");
      return { engine: "postgres", db: transaction, ...found, close };
    } catch (error) {
      await transaction.rollback().execute();
      throw error;
    }
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

/** Whether nobody else of this user is connected. Waits a moment: the server ends a connection some time after its client did. */
export async function becomesAlone(db: Db): Promise<boolean> {
  const deadline = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    const { rows } = await sql`
      select pid from pg_stat_activity
       where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`.execute(db);
    if (rows.length === 0) return true;
    if (performance.now() > deadline) return false;
    await sql`select pg_stat_clear_snapshot(), pg_sleep(0.05)`.execute(db);
  }
}

/** An error of SQLite, in words for the operator. */
function cannotRead(file: string, error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  if (error.code === "SQLITE_CANTOPEN") return new DatabaseMissing(file);
  if (error.code.startsWith("SQLITE_BUSY")) return inUse(file, error);
  return new DatabaseError(`Cannot read the database ${file}: ${error.message} (${error.code}).`, { cause: error });
}

/** @param database how the operator knows it; without a password. */
function inUse(database: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    `The database ${database} is in use. Stop every process of the service first: what they write during the move would be lost. ` +
      "Nothing was changed.",
    { cause },
  );
}

function notCopied(file: string, error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const { message, code } = error;
  return new DatabaseError(`The database could not be copied to ${file}: ${message} (${code}). Is that disk full?`, {
    cause: error,
  });
}
