import { type Kysely, sql } from "kysely";

import { schemaKit } from "./kit.ts";

/** How a collection stores owners and balances. All that exist have OpenZeppelin's storage: the factory of 0.2.0 makes no others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  await db.schema
    .alterTable("collections")
    .addColumn("storage", TEXT, (c) => c.notNull().defaultTo(sql.lit("standard")))
    .execute();
}
