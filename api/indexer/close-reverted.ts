import type { Logger } from "pino";

import type { ChainClient, Receipt } from "../chain/client.ts";
import type { ContractAddresses } from "../chain/contracts.ts";
import { isEmpty } from "../chain/empty-transaction.ts";
import { RpcError } from "../chain/errors.ts";
import { readConsumed } from "../chain/relay-reads.ts";
import { isFinal } from "../domain/request.ts";
import { batchRequests, closeBatch, type OpenBatch, openBatches } from "../store/sending/batches.ts";
import type { Database } from "../store/db/database.ts";
import { readLane } from "../store/sending/lanes.ts";

interface CloseDeps {
  database: Database;
  client: ChainClient;
  contracts: ContractAddresses;
  logger: Logger;
  now: () => number;
}

/**
 * A transaction that reverts as a whole, or that only closes its nonce, leaves no log. Batches that are still open
 * although the chain has used their nonce, in a block that is final and read, did nothing: their requests go into
 * another batch, under the same numbers.
 * @param final the newest block that is deep enough; its logs are stored.
 */
export async function closeReverted(deps: CloseDeps, final: number): Promise<void> {
  const { database, client, logger, now } = deps;
  const open = await openBatches(database.read);
  for (const index of new Set(open.map((batch) => batch.lane))) {
    const lane = await readLane(database.read, index);
    if (lane === undefined) continue;
    // Where to look, in the newest state: many nodes have no older one than that of the last 128 blocks.
    const [used = 0] = await client.nonces([lane.address]);
    for (const batch of open.filter(({ lane, nonce }) => lane === index && nonce < used)) {
      const fields = { batch: batch.id, nonce: batch.nonce, lane: index };
      const found = await revertedReceipt(client, batch);
      if (found !== null && found.blockNumber <= final) {
        logger.error(fields, "a batch did nothing as a whole; its requests are sent again");
        await database.write((trx) => closeBatch(trx, batch.id, found, now()));
      } else if ((await isUsed(deps, lane.address, batch.nonce, final)) && (await untouched(deps, batch, final))) {
        // Whoever used the nonce: no version of the batch can ever run, and none has.
        logger.error(
          fields,
          "the lane's nonce was used by a transaction that is not known; its requests are sent again",
        );
        await database.write((trx) => closeBatch(trx, batch.id, { blockNumber: final, gasUsed: 0n }, now()));
      }
    }
  }
}

/** Of the version that reverted, or did nothing on purpose. */
async function revertedReceipt(client: ChainClient, batch: OpenBatch): Promise<Receipt | null> {
  const receipts = await client.receipts(batch.attempts.map((attempt) => attempt.hash));
  const found = receipts.find(
    (receipt, index) => receipt !== null && (receipt.status === 0 || isEmpty(batch.attempts[index]?.raw ?? "0x")),
  );
  return found ?? null;
}

/** Whether the nonce was used by the end of a block. A node that does not have its state any more cannot tell. */
async function isUsed({ client, logger }: CloseDeps, address: string, nonce: number, at: number): Promise<boolean> {
  try {
    const [used = 0] = await client.nonces([address], at);
    return nonce < used;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    logger.debug({ err: error, block: at }, "the node does not say which nonces were used by a block");
    return false;
  }
}

/**
 * Whether the chain has consumed none of the numbers that wait for this batch; those that another one has run since do not.
 * A missing receipt proves nothing, so this is asked of the state of the very block in which the nonce is used.
 */
async function untouched({ database, client, contracts }: CloseDeps, batch: OpenBatch, at: number): Promise<boolean> {
  const waiting = (await batchRequests(database.read, batch.id)).filter(
    ({ status, outcome }) => !isFinal(status) && outcome === null,
  );
  const numbers = waiting.map(({ number }) => number);
  return (await readConsumed(client, contracts.relay, numbers, at)).every((consumed) => consumed === false);
}
