import type { ChainClient } from "../chain/client.ts";
import { ChainUnavailable } from "../chain/errors.ts";
import type { Database } from "../store/db/database.ts";
import { firstNonces } from "../store/sending/lanes.ts";

/**
 * Finds a transaction that this database's lanes have sent although the database does not know it. Then the database is an
 * older copy, or another service uses the same seed. What a lane sent before this database first used it does not count.
 * @param hashes of batches on chain that the database does not have.
 * @returns the hash of the first one; null when there is none.
 */
export async function unknownOfLanes(
  { database, client }: { database: Database; client: ChainClient },
  hashes: string[],
): Promise<string | null> {
  const first = await firstNonces(database.read);
  for (const [index, transaction] of (await client.transactions(hashes)).entries()) {
    if (transaction === null)
      throw new ChainUnavailable("the node does not have a transaction whose logs it returned: it is not in sync");
    const since = first.get(transaction?.from ?? "");
    if (transaction !== undefined && since !== undefined && transaction.nonce >= since) return hashes[index] ?? null;
  }
  return null;
}
