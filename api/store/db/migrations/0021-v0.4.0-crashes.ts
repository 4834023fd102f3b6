import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** Who works on a job, and how often a process died at it. `under-way.ts` says what the columns are for. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT } = schemaKit(db);
  for (const table of ["media_jobs", "deliveries"]) {
    // Media jobs have a holder already.
    if (table !== "media_jobs") await db.schema.alterTable(table).addColumn("holder", TEXT).execute();
    await db.schema
      .alterTable(table)
      .addColumn("crashes", INT, (c) => c.notNull().defaultTo(0))
      .execute();
  }
}
