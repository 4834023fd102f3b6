import type { Logger } from "pino";

import type { ChainClient } from "../chain/client.ts";
import { isEmpty } from "../chain/empty-transaction.ts";
import { closeBatch, openBatches } from "../store/batches.ts";
import type { Database } from "../store/database.ts";
import { readLane } from "../store/lanes.ts";

interface CloseDeps {
  database: Database;
  client: ChainClient;
  logger: Logger;
  confirmations: number;
  now: () => number;
}

/**
 * A transaction that reverts as a whole, or that only closes its nonce, leaves no log. Where the chain has used the nonce of an open batch, its receipts
 * say whether that happened; its requests then go into another batch, their numbers not consumed.
 */
export async function closeReverted(deps: CloseDeps, upTo: number): Promise<void> {
  const { database, client, logger, now } = deps;
  const open = await openBatches(database.read);
  if (open.length === 0) return;
  const lanes = [...new Set(open.map((batch) => batch.lane))];
  for (const index of lanes) {
    const lane = await readLane(database.read, index);
    if (lane === undefined) continue;
    const [mined = 0] = await client.nonces([lane.address], upTo);
    for (const batch of open) {
      if (batch.lane !== index || batch.nonce >= mined) continue;
      const receipts = await client.receipts(batch.attempts.map((attempt) => attempt.hash));
      // A version that does nothing succeeds and leaves no log either.
      const inVain = receipts.find(
        (receipt, index) => receipt !== null && (receipt.status === 0 || isEmpty(batch.attempts[index]?.raw ?? "0x")),
      );
      if (inVain != null && inVain.blockNumber <= upTo - deps.confirmations + 1) {
        logger.error(
          { batch: batch.id, nonce: batch.nonce },
          "a batch did nothing as a whole; its requests are sent again",
        );
        await database.write((trx) => closeBatch(trx, batch.id, inVain, now()));
      } else if (receipts.every((receipt) => receipt === null)) {
        // A missing receipt proves nothing, so the batch stays open; but somebody must look.
        logger.error(
          { batch: batch.id, nonce: batch.nonce, lane: index },
          "the lane's nonce was used by a transaction that is not known",
        );
      }
    }
  }
}
