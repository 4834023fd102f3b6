import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/** Why a lane cannot send, and why a request was returned for a later time. Nothing is known about earlier ones. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  for (const table of ["lanes", "requests"]) await db.schema.alterTable(table).addColumn("waiting_for", TEXT).execute();
}
