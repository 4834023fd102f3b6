import { type Kysely, sql } from "kysely";

/** Whether a collection has `burnWithAuthorization`. All that exist have not: the factory of 0.2.0 makes them without it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable("collections")
    .addColumn("signed_burns", "integer", (c) => c.notNull().defaultTo(sql.lit(0)))
    .execute();
}
