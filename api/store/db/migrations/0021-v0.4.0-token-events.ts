import { type Kysely, sql } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** `schema.ts` says what the tables and columns mean. Movements in blocks that are stored already get no events. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index, partialIndex, uniquePartialIndex } = schemaKit(db);
  await db.schema.alterTable("events").addColumn("block_number", INT).execute();
  await db.schema.alterTable("events").addColumn("corrects", TEXT).execute();
  await partialIndex("events_block", "events (block_number)", "block_number is not null");
  // A page of some types passes over no event of another type.
  await index("events_typed", "events", ["app_id", "type", "position"]);
  // A request can be in a block more than once.
  await db.schema.dropIndex("events_once").execute();
  await uniquePartialIndex("events_once", "events (request_id, type)", "type in ('sent', 'completed', 'error')");
  await create("stranger_windows")
    .addColumn("app_id", TEXT, (c) => c.primaryKey().references("apps.id"))
    .addColumn("from_block", INT, (c) => c.notNull())
    .addColumn("moves", INT, (c) => c.notNull())
    .addColumn("gap_from", INT)
    .addColumn("gap_to", INT)
    .execute();
  await partialIndex("stranger_windows_gap", "stranger_windows (gap_to)", "gap_to is not null");
  await sql`
    insert into meta (key, value) select 'token_events_to', value from meta where key = 'checkpoint'`.execute(db);
}
