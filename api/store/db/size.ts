import { sql } from "kysely";

import { type Db, engineOf } from "./sql.ts";

/** Size of the database in bytes. SQLite: without the write-ahead log. */
export async function databaseBytes(db: Db): Promise<number> {
  const query =
    engineOf(db) === "postgres"
      ? sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
      : sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()`;
  const { rows } = await query.execute(db);
  return rows[0]?.bytes ?? 0;
}
