import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** Rows that a worker leaves alone for a while. `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create } = schemaKit(db);
  await create("parked_rows")
    .addColumn("kind", TEXT, (c) => c.notNull())
    .addColumn("id", TEXT, (c) => c.notNull())
    .addColumn("reason", TEXT, (c) => c.notNull())
    .addColumn("tries", INT, (c) => c.notNull())
    .addColumn("since", INT, (c) => c.notNull())
    .addColumn("next_at", INT, (c) => c.notNull())
    .addPrimaryKeyConstraint("parked_rows_key", ["kind", "id"])
    .execute();
}
