import { type Kysely, sql } from "kysely";

import { schemaKit } from "./kit.ts";

/** The apps' own texts for their requests. Earlier requests have none. Requests without one take no place in the index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, partialIndex } = schemaKit(db);
  const type = typeof TEXT === "string" ? sql.raw(TEXT) : TEXT;
  await sql`alter table requests add column reference ${type}`.execute(db);
  await partialIndex("requests_reference", "requests (app_id, reference, seq)", "reference is not null");
}
