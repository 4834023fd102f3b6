import BetterSqlite3 from "better-sqlite3";
import { Kysely, sql, SqliteDialect } from "kysely";

import { DatabaseError, databaseName } from "../db/errors.ts";
import { UNFINISHED_RESTORE } from "../db/meta.ts";
import { lockMigrations } from "../db/postgres/driver.ts";
import { openPostgres } from "../db/postgres/open.ts";
import type { Tables } from "../db/schema.ts";
import type { Db, Trx } from "../db/sql.ts";
import { becomesAlone } from "./snapshot.ts";
import { countAllRows } from "./tables.ts";

/** Problems that are named; more say nothing new. */
const MOST_PROBLEMS = 5;

/**
 * Checks every page, index and reference of a SQLite file that nobody else uses, and counts its rows. Afterwards everything
 * is in this one file: it has no write-ahead log.
 * @returns the problems; none: the file is in order. And how many rows each table has.
 */
export async function checkSqliteFile(file: string): Promise<{ problems: string[]; rows: Record<string, number> }> {
  const connection = new BetterSqlite3(file, { fileMustExist: true });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database: connection }) });
  try {
    connection.pragma("journal_mode = DELETE");
    const pages = connection.pragma(`integrity_check(${MOST_PROBLEMS.toString()})`) as { integrity_check: string }[];
    const references = connection.pragma("foreign_key_check") as { table: string; parent: string }[];
    const problems = [
      ...pages.map((row) => row.integrity_check).filter((answer) => answer !== "ok"),
      ...references
        .slice(0, MOST_PROBLEMS)
        .map(({ table, parent }) => `a row of ${table} refers to a row of ${parent} that does not exist`),
    ];
    return { problems, rows: problems.length > 0 ? {} : await countAllRows(db) };
  } catch (error) {
    if (!(error instanceof BetterSqlite3.SqliteError)) throw error;
    return { problems: [`${error.message} (${error.code})`], rows: {} };
  } finally {
    await db.destroy();
  }
}

/** Changes a file that nobody else uses, before its schema is brought up to date. */
export async function changeSqliteFile(file: string, work: (trx: Trx) => Promise<void>): Promise<void> {
  const database = new BetterSqlite3(file, { fileMustExist: true });
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  try {
    await db.transaction().execute(work);
  } finally {
    await db.destroy();
  }
}

/**
 * Begins a restore into a PostgreSQL database. Until `finishPostgres` no service starts with it.
 * What an interrupted restore has loaded is removed.
 * @throws DatabaseError when the database is in use or not empty.
 */
export function beginPostgres(url: string): Promise<void> {
  const name = databaseName(url);
  return inTransaction(url, async (trx) => {
    // A service that starts at the same moment creates its tables before or after this transaction.
    await lockMigrations(trx);
    if (!(await becomesAlone(trx)))
      throw new DatabaseError(
        `The database ${name} is in use. Stop every process of the service first. Nothing was changed.`,
      );
    const tables = await tableNames(trx);
    if (!tables.includes(UNFINISHED_RESTORE)) {
      if (tables.length > 0)
        throw new DatabaseError(
          `The database ${name} is not empty. Create an empty one (createdb --owner <user> <name>) and set DATABASE_URL ` +
            "to it. Nothing was changed.",
        );
      // Kysely does not list a table without columns.
      await sql`create table ${MARK} (backup text)`.execute(trx);
    }
    for (const table of tables)
      if (table !== UNFINISHED_RESTORE) await sql`drop table ${sql.table(table)} cascade`.execute(trx);
  });
}

/**
 * Ends a restore: the service may start.
 * @param work gets the number of rows of each table. It checks them, and makes the last changes of the restore.
 */
export function finishPostgres(
  url: string,
  work: (trx: Trx, rows: Record<string, number>) => Promise<void>,
): Promise<void> {
  return inTransaction(url, async (trx) => {
    await sql`set local statement_timeout = 0`.execute(trx);
    const { [UNFINISHED_RESTORE]: _mark, ...rows } = await countAllRows(trx);
    await work(trx, rows);
    await sql`drop table ${MARK}`.execute(trx);
  });
}

/** No process of the backup runs with the restored database, whatever its rows say. */
export async function forgetProcesses(trx: Trx): Promise<void> {
  const tables = await tableNames(trx);
  // A backup of an earlier version has only the first.
  for (const table of ["processes", "other_processes"] as const)
    if (tables.includes(table)) await trx.deleteFrom(table).execute();
}

const MARK = sql.table(UNFINISHED_RESTORE);

async function tableNames(db: Db): Promise<string[]> {
  return (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name);
}

async function inTransaction<T>(url: string, work: (trx: Trx) => Promise<T>): Promise<T> {
  const pool = await openPostgres(url, "create", { connections: 1, refusesPooler: true });
  try {
    return await pool.transaction().execute(work);
  } finally {
    await pool.destroy();
  }
}
