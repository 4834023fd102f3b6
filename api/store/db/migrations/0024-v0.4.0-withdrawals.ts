import type { Kysely } from "kysely";

import { INT, schemaKit } from "./kit.ts";

/** `schema.ts` says what the columns mean. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { TEXT, create, index, numbered, partialIndex } = schemaKit(db);
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
  // Requests of a wallet that a lane has claimed or sent: transfers and burns, which wait for no media.
  const sending = "from_address is not null and ready_at is null and status in ('pending', 'processing')";
  await partialIndex("requests_sending", "requests (from_address)", sending);
}
