import { type Migration, Migrator } from "kysely/migration";

import { DatabaseError } from "./database-error.ts";
import type { Db } from "./engine.ts";
import * as initial from "./migrations/0001-initial.ts";
import * as followedContracts from "./migrations/0002-followed-contracts.ts";

/** All migrations in order. A released name never changes. */
const MIGRATIONS: Record<string, Migration> = {
  "0001-initial": initial,
  "0002-followed-contracts": followedContracts,
};

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
    const unknown = (await namesOfApplied(trx)).filter((name) => !(name in MIGRATIONS));
    if (unknown.length > 0) {
      throw new SchemaError(
        `The database was migrated by a newer version of Moneta (${unknown.join(", ")}). Start that version, or restore a backup made by this version.`,
      );
    }
    const migrator = new Migrator({ db: trx, provider: { getMigrations: () => Promise.resolve(MIGRATIONS) } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) {
      throw new SchemaError(
        `The database could not be migrated: ${error instanceof Error ? error.message : "unknown"}`,
        {
          cause: error,
        },
      );
    }
  });
}

async function namesOfApplied(db: Db): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some((table) => table.name === "kysely_migration")) return [];
  const rows = await db
    .$extendTables<{ kysely_migration: { name: string } }>()
    .selectFrom("kysely_migration")
    .select("name")
    .execute();
  return rows.map((row) => row.name);
}
