import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/** An app's requests in one transaction. Those that were never sent take no place in the index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { partialIndex } = schemaKit(db);
  await partialIndex(
    "requests_transaction",
    "requests (app_id, transaction_hash, seq)",
    "transaction_hash is not null",
  );
}
