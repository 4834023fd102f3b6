import BetterSqlite3 from "better-sqlite3";
import { Kysely, SqliteDialect } from "kysely";

import type { Trx } from "../db/sql.ts";
import type { Tables } from "../db/schema.ts";
import { countAllRows } from "./tables.ts";

/** Problems that are named; more say nothing new. */
const MOST_PROBLEMS = 5;

/** What a check of a SQLite file found. */
export interface CheckedFile {
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
