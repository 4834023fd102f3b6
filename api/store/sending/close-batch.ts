import { sql } from "kysely";

import type { Cost } from "../../domain/cost-shares.ts";
import { CounterDeltas } from "../db/counters.ts";
import { AT_ONCE, LONGEST_WAIT } from "../db/due.ts";
import type { Trx } from "../db/engine.ts";
import { lockLedger } from "../db/locks.ts";
import { rowSet } from "../db/row-set.ts";
import { recordCosts } from "../requests/costs.ts";
import type { StoredRequest } from "../requests/stored-request.ts";
import { batchRequests } from "./batches.ts";

/**
 * Closes a batch that reverted as a whole, or whose nonce another transaction used. None of its calls ran, so its requests
 * are ready for another batch.
 * @param mined the block in which the nonce was used, and what the batch's own transaction cost; null: not known yet.
 */
export async function closeBatch(
  trx: Trx,
  batchId: number,
  mined: { blockNumber: number; cost: (Cost & { day: number }) | null },
  now: number,
): Promise<void> {
  await lockLedger(trx);
  const closed = await trx
    .updateTable("batches")
    .set({ status: "closed", block_number: mined.blockNumber })
    .where("id", "=", batchId)
    .where("status", "=", "open")
    .executeTakeFirst();
  if (closed.numUpdatedRows !== 1n) return;
  const requests = await batchRequests(trx, batchId);
  if (mined.cost !== null) {
    const counters = new CounterDeltas();
    await recordCosts(trx, [{ ...mined.cost, batchId, blockNumber: mined.blockNumber }], counters);
    await counters.flush(trx);
  }
  await returnUntouched(trx, requests, batchId, now, waitBeforeReturn);
}

/** Exponential backoff, because each revert of a whole batch costs gas. In milliseconds. */
function waitBeforeReturn(returns: number): number {
  return returns === 0 ? 0 : Math.min(1_000 * 2 ** returns, LONGEST_WAIT);
}

/**
 * Returns a request whose number was not consumed, for another batch under the same number. The first time it keeps its
 * place before all later requests; otherwise a queue that never empties would starve it. After that it goes behind the queue.
 */
export async function returnUntouched(
  trx: Trx,
  requests: readonly Pick<StoredRequest, "id" | "returns">[],
  batchId: number,
  now: number,
  wait: (returns: number) => number = () => 0,
): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(({ id, returns }) => ({ id, ready_at: returns === 0 ? AT_ONCE : now + wait(returns) }));
  await sql`
    update requests set ready_at = input.ready_at, batch_id = null, returns = returns + 1
      from ${rowSet(trx, { id: "text", ready_at: "integer" }, rows)} as input
     where requests.id = input.id and requests.batch_id = ${batchId}
       and requests.status in ('pending', 'processing') and requests.outcome is null`.execute(trx);
}
