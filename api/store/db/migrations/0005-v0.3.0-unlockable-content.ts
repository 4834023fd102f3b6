import type { Kysely } from "kysely";

import { schemaKit } from "./kit.ts";

/**
 * Finds the unlockable content of a wallet's tokens. Few requests have any, so this index is small, while the row of a
 * request, and its place in the index of all ids, must be read from a table that is as large as all others together.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { uniquePartialIndex } = schemaKit(db);
  await uniquePartialIndex("requests_unlockable", "requests (id)", "unlockable is not null");
}
