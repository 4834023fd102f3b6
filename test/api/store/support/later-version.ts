import { pathOf } from "../../../../api/store/db/database.ts";
import { isPostgres } from "../../../../api/store/db/errors.ts";
import { migrate, MIGRATIONS, type Migrations } from "../../../../api/store/db/migrate.ts";
import { openPostgres } from "../../../../api/store/db/postgres/open.ts";
import { openSqlite } from "../../../../api/store/db/sqlite/sqlite.ts";

/** Of a later version: the same, and one migration more. */
const LATER: Migrations = {
  ...MIGRATIONS,
  "0099-v99.1.0-labels": {
    up: async (db) => {
      await db.schema.createTable("labels").addColumn("id", "integer").execute();
    },
  },
};

/** Opens the database as a later version does, whose schema has one table more, and closes it. @throws SchemaError */
export function openLater(url: string): Promise<void> {
  return openWith(url, LATER);
}

/** Opens the database, or creates it, as a version with these migrations does, and closes it. @throws SchemaError */
export async function openWith(url: string, migrations: Migrations): Promise<void> {
  const db = isPostgres(url)
    ? await openPostgres(url, "create", { connections: 1 })
    : openSqlite(pathOf(url), "create").writer;
  try {
    await migrate(db, migrations);
  } finally {
    await db.destroy();
  }
}
