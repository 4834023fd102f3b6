import { type Kysely, sql } from "kysely";

/** `schema.ts` says what the column means. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("wallets")
    .addColumn("watch_only", "integer", (c) => c.notNull().defaultTo(sql.lit(0)))
    .execute();
}
