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

/** Thrown when a database cannot take a backup. The message says what to do. */
class RestoreRefused extends DatabaseError {
  override readonly name = "RestoreRefused";
}

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
 * Prepares an empty PostgreSQL database for a restore. Until `finishPostgres` no service starts with it.
 * @param backup SHA-256 of the backup's dump: an interrupted restore is finished with the same backup.
 * @returns "restored" when an interrupted restore has loaded the rows already, else "empty".
 * @throws RestoreRefused when the database is in use or not empty.
 */
export function preparePostgres(url: string, backup: string): Promise<"empty" | "restored"> {
  const refused = (why: string) => new RestoreRefused(`${why} Nothing was changed.`);
  const name = databaseName(url);
  return inTransaction(url, async (trx) => {
    // A service that starts at the same moment creates its tables before or after this transaction.
    await lockMigrations(trx);
    if (!(await becomesAlone(trx)))
      throw refused(`The database ${name} is in use. Stop every process of the service first.`);
    const tables = await tableNames(trx);
    if (tables.includes(UNFINISHED_RESTORE)) {
      const { rows } = await sql<{ backup: string }>`select backup from ${MARK}`.execute(trx);
      if (rows.every((row) => row.backup === backup)) return tables.length > 1 ? "restored" : "empty";
      throw refused(
        `A restore of another backup into the database ${name} was interrupted. Run it again with that backup, or create an ` +
          "empty database.",
      );
    }
    if (tables.length > 0) {
      const advice = "Create an empty one (createdb --owner <user> <name>) and set DATABASE_URL to it.";
      throw refused(`The database ${name} is not empty. ${advice}`);
    }
    await sql`create table ${MARK} (backup text not null)`.execute(trx);
    await sql`insert into ${MARK} (backup) values (${backup})`.execute(trx);
    return "empty";
  });
}

/**
 * Removes the mark of a restore that has failed, if nothing was loaded. The program may have failed after its commit: then
 * the mark stays, and the next run finishes the restore.
 */
export function abandonPostgres(url: string): Promise<void> {
  return inTransaction(url, async (trx) => {
    if ((await tableNames(trx)).length === 1) await sql`drop table if exists ${MARK}`.execute(trx);
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
