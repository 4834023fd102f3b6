import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/** `schema.ts` says what the column means. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable("collections").addColumn("rescue", schemaKit(db).TEXT).execute();
}
