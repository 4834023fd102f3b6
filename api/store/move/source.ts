import BetterSqlite3 from "better-sqlite3";
import { Kysely, sql, SqliteDialect } from "kysely";

import { pathOf } from "../db/database.ts";
import { DatabaseError, DatabaseMissing, databaseName, isPostgres } from "../db/errors.ts";
import type { Db } from "../db/sql.ts";
import { openPostgres } from "../db/postgres/open.ts";
import type { Tables } from "../db/schema.ts";
import { readTables } from "./tables.ts";

/** A database that is read for a move. Until it is closed, nobody can write to it. */
interface MoveSource {
  db: Db;
  close(): Promise<void>;
}

/** Milliseconds to wait for a command that uses the database for a moment. */
const BUSY_TIMEOUT = 2_000;

/**
 * Opens a database so that nobody else writes to it until it is closed. Nothing in it is changed, and no migration runs.
 * @throws DatabaseMissing, DatabaseError: it does not exist, or a process of the service uses it.
 */
export function openForMove(url: string): Promise<MoveSource> {
  return isPostgres(url) ? openPostgresAlone(url) : openSqliteAlone(pathOf(url));
}

/** Fails while any other process has the file open. No other process can open it until it is closed. */
// eslint-disable-next-line @typescript-eslint/require-await -- the other engine has to wait
async function openSqliteAlone(file: string): Promise<MoveSource> {
  let connection: BetterSqlite3.Database | null = null;
  try {
    connection = new BetterSqlite3(file, { fileMustExist: true, timeout: BUSY_TIMEOUT });
    // In WAL mode this takes the lock that every other connection holds a share of, even when it is idle.
    connection.pragma("locking_mode = EXCLUSIVE");
    connection.exec("begin immediate");
  } catch (error) {
    connection?.close();
    const isBusy = error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_BUSY");
    throw isBusy ? inUse(file, error) : cannotRead(file, error);
  }
  const alone = connection;
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: alone }) });
  return {
    db,
    close: async () => {
      alone.exec("rollback");
      await db.destroy();
    },
  };
}

/** An error of SQLite, in words for the operator. */
export function cannotRead(file: string, error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  if (error.code === "SQLITE_CANTOPEN") return new DatabaseMissing(file);
  return new DatabaseError(`Cannot read the database ${file}: ${error.message} (${error.code}).`, { cause: error });
}

/** Fails while the same user has other connections to the database. Writers wait until it is closed. */
async function openPostgresAlone(url: string): Promise<MoveSource> {
  const pool = await openPostgres(url, "existing", { connections: 1, refusesPooler: true });
  try {
    const tables = (await readTables(pool)).map(({ name }) => sql.table(name));
    const transaction = await pool.startTransaction().setIsolationLevel("repeatable read").execute();
    const close = async () => {
      await transaction.rollback().execute();
      await pool.destroy();
    };
    try {
      // First: the transaction sees what was committed before its first query.
      await sql`lock table ${sql.join(tables)} in share mode`.execute(transaction);
      if (!(await becomesAlone(transaction))) throw inUse(databaseName(url));
      return { db: transaction, close };
    } catch (error) {
      await transaction.rollback().execute();
      throw error;
    }
  } catch (error) {
    await pool.destroy();
    throw error;
  }
}

/** Waits a moment, because the server ends a connection some time after its client did. */
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

/** @param database how the operator knows it; without a password. */
function inUse(database: string, cause?: unknown): DatabaseError {
  return new DatabaseError(
    `The database ${database} is in use. Stop every process of the service first: what they write during the move would be lost. ` +
      "Nothing was changed.",
    { cause },
  );
}
