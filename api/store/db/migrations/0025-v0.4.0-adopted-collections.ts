import { type Kysely, sql } from "kysely";

import { engineOf } from "../sql.ts";
import { schemaKit } from "./kit.ts";

/** `schema.ts` says what the columns mean. No request makes an adopted collection. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, partialIndex } = schemaKit(db);
  if (engineOf(db) === "postgres") await sql`alter table collections alter column request_id drop not null`.execute(db);
  else await dropRequired(db);
  for (const [table, column] of [
    ["collections", "adopted"],
    ["holdings", "unlisted"],
  ] as const)
    await db.schema
      .alterTable(table)
      .addColumn(column, "integer", (c) => c.notNull().defaultTo(sql.lit(0)))
      .execute();
  await db.schema.alterTable("collections").addColumn("total_supply", TEXT).execute();
  await partialIndex("collections_adopted", "collections (address)", "adopted = 1");
  await partialIndex("collections_adopted_by", "collections (app_id, adopted)", "adopted = 1");
  // What a wallet lists, and what it does not.
  await db.schema.dropIndex("holdings_owner").execute();
  await partialIndex("holdings_owner", "holdings (owner, seq)", "unlisted = 0");
  await partialIndex("holdings_unlisted", "holdings (owner)", "unlisted = 1");
}

/** SQLite cannot change a column, so the table is made anew, as it is but for that. */
async function dropRequired(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ type: string; sql: string }>`
    select type, sql from sqlite_master where tbl_name = 'collections' and sql is not null order by type desc`.execute(
    db,
  );
  await sql`alter table collections rename to collections_0001`.execute(db);
  const [table, ...indexes] = rows.map((row) => row.sql);
  await sql.raw((table ?? "").replace('"request_id" text not null', '"request_id" text')).execute(db);
  await sql`insert into collections select * from collections_0001`.execute(db);
  await sql`drop table collections_0001`.execute(db);
  for (const index of indexes) await sql.raw(index).execute(db);
}
