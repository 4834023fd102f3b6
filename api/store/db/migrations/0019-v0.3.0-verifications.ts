import { type Kysely, sql } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/**
 * What a verifier says of a collection's contract, and when it is asked next. Collections that exist are due, too. Without a
 * verifier they wait for one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index } = schemaKit(db);
  await db.schema.alterTable("collections").addColumn("verified", TEXT).execute();
  await create("verifications")
    .addColumn("address", TEXT, (c) => c.primaryKey())
    .addColumn("state", TEXT, (c) => c.notNull())
    .addColumn("due_at", INT, (c) => c.notNull())
    .addColumn("tries", "integer", (c) => c.notNull())
    .addColumn("tried_at", INT)
    .addColumn("error", TEXT)
    .execute();
  await index("verifications_due", "verifications", ["state", "due_at"]);
  await index("verifications_tried", "verifications", ["tried_at"]);
  await sql`
    insert into verifications (address, state, due_at, tries)
    select address, 'waiting', 0, 0 from collections where listed = 1`.execute(db);
}
