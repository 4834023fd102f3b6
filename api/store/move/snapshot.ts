import BetterSqlite3 from "better-sqlite3";
import { Kysely, sql, SqliteDialect } from "kysely";

import { pathOf } from "../db/database.ts";
import { DatabaseError, isPostgres } from "../db/errors.ts";
import { requireRestoreFinished } from "../db/meta.ts";
import { openPostgres } from "../db/postgres/open.ts";
import type { Tables } from "../db/schema.ts";
import type { Db, Trx } from "../db/sql.ts";
import { cannotRead } from "./source.ts";
import { countAllRows } from "./tables.ts";

/** Problems that are named; more say nothing new. */
const MOST_PROBLEMS = 5;

/** What a check of a SQLite file found. */
interface CheckedFile {
  /** Empty: the file is in order. */
  problems: string[];
  /** How many rows each table has. */
  rows: Record<string, number>;
}

/**
 * Checks every page, index and reference of a SQLite file that nobody else uses, and counts its rows. Afterwards everything
 * is in this one file: it has no write-ahead log.
 */
export async function checkSqliteFile(file: string): Promise<CheckedFile> {
  const connection = new BetterSqlite3(file, { fileMustExist: true });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  try {
    connection.pragma("journal_mode = DELETE");
    const found = [
      ...(connection.pragma(`integrity_check(${MOST_PROBLEMS.toString()})`) as { integrity_check: string }[])
        .map((row) => row.integrity_check)
        .filter((answer) => answer !== "ok"),
      ...(connection.pragma("foreign_key_check") as { table: string; parent: string }[])
        .slice(0, MOST_PROBLEMS)
        .map(({ table, parent }) => `a row of ${table} refers to a row of ${parent} that does not exist`),
    ];
    return { problems: found, rows: found.length > 0 ? {} : await countAllRows(db) };
  } catch (error) {
    if (!(error instanceof BetterSqlite3.SqliteError)) throw error;
    return { problems: [`${error.message} (${error.code})`], rows: {} };
  } finally {
    await db.destroy();
  }
}

/** Changes a file that nobody else uses, before its schema is brought up to date. */
export async function finishSqlite(file: string, work: (trx: Trx) => Promise<void>): Promise<void> {
  const db = new Kysely<Tables>({
    dialect: new SqliteDialect({ database: new BetterSqlite3(file, { fileMustExist: true }) }),
  });
  try {
    await db.transaction().execute(work);
  } finally {
    await db.destroy();
  }
}

/** One moment of a database, for a backup. Others read and write meanwhile; nothing in the database is changed. */
export type DatabaseSnapshot = SqliteSnapshot | PostgresSnapshot;

interface SqliteSnapshot {
  engine: "sqlite";
  /** Reads the snapshot. */
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

/** Pages that are copied at once. Between them, the process can do something else. */
const PAGES = 4_096;

/**
 * Opens a snapshot. No migration runs.
 * @throws DatabaseMissing, DatabaseError
 */
export function openSnapshot(url: string): Promise<DatabaseSnapshot> {
  return isPostgres(url) ? openOnPostgres(url) : openOnSqlite(pathOf(url));
}

/**
 * SQLite's online copy, inside a read transaction: writers go on, and their writes do not make the copy begin again. Unlike
 * `VACUUM INTO`, it copies pages as they are, and the snapshot stays open, so that the copy can be compared with it.
 */
// eslint-disable-next-line @typescript-eslint/require-await -- the other engine has to wait
async function openOnSqlite(file: string): Promise<SqliteSnapshot> {
  const connection = openFile(file);
  try {
    connection.pragma("query_only = ON");
    connection.exec("begin");
    // The first read fixes the snapshot.
    connection.prepare("select count(*) from sqlite_master").get();
  } catch (error) {
    connection.close();
    throw cannotRead(file, error);
  }
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  return {
    engine: "sqlite",
    db,
    copyTo: async (target) => {
      try {
        await connection.backup(target, { progress: () => PAGES });
      } catch (error) {
        throw notCopied(target, error);
      }
    },
    close: async () => {
      connection.exec("rollback");
      await db.destroy();
    },
  };
}

function openFile(file: string): BetterSqlite3.Database {
  try {
    return new BetterSqlite3(file, { fileMustExist: true });
  } catch (error) {
    throw cannotRead(file, error);
  }
}

function notCopied(file: string, error: unknown): unknown {
  if (!(error instanceof BetterSqlite3.SqliteError)) return error;
  const { message, code } = error;
  return new DatabaseError(`The database could not be copied to ${file}: ${message} (${code}). Is that disk full?`, {
    cause: error,
  });
}

async function openOnPostgres(url: string): Promise<PostgresSnapshot> {
  const pool = await openPostgres(url, "existing", { connections: 1 });
  try {
    await requireRestoreFinished(pool);
    const transaction = await pool.startTransaction().setIsolationLevel("repeatable read").execute();
    const close = async () => {
      await transaction.rollback().execute();
      await pool.destroy();
    };
    try {
      // The transaction waits while `pg_dump` works.
      await sql`set local statement_timeout = 0`.execute(transaction);
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
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
