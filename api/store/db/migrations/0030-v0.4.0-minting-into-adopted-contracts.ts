import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** `schema-contracts.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, partialIndex } = schemaKit(db);
  await create("minting")
    .addColumn("contract", TEXT, (c) => c.primaryKey().notNull())
    .addColumn("mint_function", TEXT, (c) => c.notNull())
    .addColumn("code_hash", TEXT, (c) => c.notNull())
    .addColumn("implementation", TEXT)
    .addColumn("owner", TEXT, (c) => c.notNull())
    .addColumn("stopped", TEXT)
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await partialIndex("minting_stopped", "minting (contract)", "stopped is not null");
}
