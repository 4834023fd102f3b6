import { type Migration, Migrator } from "kysely/migration";

import { DatabaseError } from "./database-error.ts";
import { type Db, engineOf } from "./engine.ts";
import * as initial from "./migrations/0001-initial.ts";
import { lockMigrations } from "./postgres-driver.ts";
import { codeOf } from "./postgres-errors.ts";

/** All migrations in order. A released name never changes. */
const MIGRATIONS: Record<string, Migration> = { "0001-initial": initial };

/** PostgreSQL's code: this user may not do that. */
const NO_PRIVILEGE = "42501";

export class SchemaError extends DatabaseError {
  override readonly name = "SchemaError";
}

/**
 * Brings the schema up to date. Racing processes wait for each other (a write lock on SQLite, an advisory lock on
 * PostgreSQL).
 * @throws SchemaError when the database was migrated by a newer version of Moneta.
 */
export async function migrate(db: Db): Promise<void> {
  // One transaction for everything: racing processes check one after the other, and a crash leaves nothing half done.
  await db.transaction().execute(async (trx) => {
    if (engineOf(trx) === "postgres") await lockMigrations(trx);
    const unknown = (await appliedMigrations(trx)).filter((name) => !(name in MIGRATIONS));
    if (unknown.length > 0) {
      throw new SchemaError(
        `The database was migrated by a newer version of Moneta (${unknown.join(", ")}). Start that version, or restore a backup made by this version.`,
      );
    }
    const migrator = new Migrator({ db: trx, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw new SchemaError(messageOf(error), { cause: error });
  });
}

function messageOf(error: unknown): string {
  const message = `The database could not be migrated: ${error instanceof Error ? error.message : "unknown"}`;
  return codeOf(error) === NO_PRIVILEGE
    ? `${message}. Make the user of DATABASE_URL the owner of the database, or run: grant create, usage on schema public to the user.`
    : message;
}

/** The names of the migrations that the database has, in order. */
export async function appliedMigrations(db: Db): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === "kysely_migration")) return [];
  const rows = await db
    .$extendTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .orderBy("name")
    .execute();
  return rows.map((row) => row.name);
}
