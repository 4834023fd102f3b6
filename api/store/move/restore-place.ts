import { type Kysely, sql } from "kysely";

import { DatabaseError, databaseName } from "../db/errors.ts";
import type { Trx } from "../db/sql.ts";
import { lockMigrations } from "../db/postgres/driver.ts";
import { openPostgres } from "../db/postgres/open.ts";
import type { Tables } from "../db/schema.ts";
import { UNFINISHED_RESTORE } from "../db/meta.ts";
import { countAllRows } from "./tables.ts";
import { becomesAlone } from "./source.ts";

/** Thrown when a database cannot take a backup. The message says what to do. */
class RestoreRefused extends DatabaseError {
  override readonly name = "RestoreRefused";
}

/**
 * Prepares an empty PostgreSQL database for a restore. Until `finishPostgres` no service starts with it.
 * @param backup SHA-256 of the backup's dump: an interrupted restore is finished with the same backup.
 * @returns "restored" when an interrupted restore has loaded the rows already, else "empty".
 * @throws RestoreRefused when the database is in use or not empty.
 */
export function preparePostgres(url: string, backup: string): Promise<"empty" | "restored"> {
  return using(url, async (pool) => {
    return pool.transaction().execute(async (trx) => {
      // A service that starts at the same moment creates its tables before or after this transaction.
      await lockMigrations(trx);
      if (!(await becomesAlone(trx))) {
        throw new RestoreRefused(
          `The database ${databaseName(url)} is in use. Stop every process of the service first. Nothing was changed.`,
        );
      }
      const tables = await trx.introspection.getTables({ withInternalKyselyTables: true });
      const marked = tables.some(({ name }) => name === UNFINISHED_RESTORE);
      if (marked) {
        await requireSameBackup(trx, url, backup);
        return tables.length > 1 ? "restored" : "empty";
      }
      if (tables.length > 0) {
        throw new RestoreRefused(
          `The database ${databaseName(url)} is not empty. Create an empty one (createdb --owner <user> <name>) and set ` +
            "DATABASE_URL to it. Nothing was changed.",
        );
      }
      await sql`create table ${sql.table(UNFINISHED_RESTORE)} (backup text not null)`.execute(trx);
      await sql`insert into ${sql.table(UNFINISHED_RESTORE)} (backup) values (${backup})`.execute(trx);
      return "empty";
    });
  });
}

async function requireSameBackup(trx: Trx, url: string, backup: string): Promise<void> {
  const { rows } = await sql<{ backup: string }>`select backup from ${sql.table(UNFINISHED_RESTORE)}`.execute(trx);
  if (rows.every((row) => row.backup === backup)) return;
  throw new RestoreRefused(
    `A restore of another backup into the database ${databaseName(url)} was interrupted. Run it again with that backup, or ` +
      "create an empty database. Nothing was changed.",
  );
}

/**
 * Removes the mark of a restore that has failed, if nothing was loaded. The program may have failed after its commit: then
 * the mark stays, and the next run finishes the restore.
 */
export function abandonPostgres(url: string): Promise<void> {
  return using(url, (pool) =>
    pool.transaction().execute(async (trx) => {
      const tables = await trx.introspection.getTables({ withInternalKyselyTables: true });
      if (tables.length === 1) await sql`drop table if exists ${sql.table(UNFINISHED_RESTORE)}`.execute(trx);
    }),
  );
}

/**
 * Ends a restore: the service may start.
 * @param check gets the number of rows of each table, and throws when they are wrong.
 * @param work the last changes of the restore, in the same transaction.
 */
export function finishPostgres(
  url: string,
  check: (rows: Record<string, number>) => void,
  work: (trx: Trx) => Promise<void>,
): Promise<void> {
  return using(url, (pool) =>
    pool.transaction().execute(async (trx) => {
      await sql`set local statement_timeout = 0`.execute(trx);
      const { [UNFINISHED_RESTORE]: _marker, ...rows } = await countAllRows(trx);
      check(rows);
      await work(trx);
      await sql`drop table ${sql.table(UNFINISHED_RESTORE)}`.execute(trx);
    }),
  );
}

/** No process of the backup runs with the restored database, whatever its rows say. */
export async function forgetProcesses(trx: Trx): Promise<void> {
  await trx.deleteFrom("processes").execute();
  await trx.deleteFrom("other_processes").execute();
}

async function using<T>(url: string, work: (pool: Kysely<Tables>) => Promise<T>): Promise<T> {
  const pool = await openPostgres(url, "create", { connections: 1, refusesPooler: true });
  try {
    return await work(pool);
  } finally {
    await pool.destroy();
  }
}
