import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/** With several nodes, a block becomes final only if they agree about what was stored from its logs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  for (const column of ["own_logs", "foreign_logs"])
    await db.schema.alterTable("blocks").addColumn(column, TEXT).execute();
}
