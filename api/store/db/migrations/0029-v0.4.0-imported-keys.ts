import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, numbered } = schemaKit(db);
  await numbered(create("imported_keys"), "id")
    .addColumn("wallet", TEXT, (c) => c.notNull().unique().references("wallets.address"))
    .addColumn("sealed", TEXT, (c) => c.notNull())
    .addColumn("replaces_delegation", INT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
}
