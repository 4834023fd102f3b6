import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/** An index of the searches of wallets in contracts of others: while the indexer catches up, no other reads are taken. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { partialIndex } = schemaKit(db);
  await partialIndex("contract_reads_search", "contract_reads (due_at)", "search = 1 and due_at is not null");
}
