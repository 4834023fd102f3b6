import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index, numbered, uniquePartialIndex } = schemaKit(db);
  await numbered(create("withdrawals"), "id")
    .addColumn("wallet", TEXT, (c) => c.notNull().references("wallets.address"))
    .addColumn("to_address", TEXT, (c) => c.notNull())
    .addColumn("value_wei", TEXT, (c) => c.notNull())
    .addColumn("status", TEXT, (c) => c.notNull())
    .addColumn("nonce", INT, (c) => c.notNull())
    .addColumn("hash", TEXT, (c) => c.notNull())
    .addColumn("raw", TEXT, (c) => c.notNull())
    .addColumn("created_at", INT, (c) => c.notNull())
    .execute();
  await index("withdrawals_wallet", "withdrawals", ["wallet"]);
  await uniquePartialIndex("withdrawals_open", "withdrawals (wallet)", "status = 'open'");
}
