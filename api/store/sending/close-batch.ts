import { sql } from "kysely";

import { backoff } from "../../domain/backoff.ts";
import type { Cost } from "../../domain/cost-shares.ts";
import type { ChainOutcome } from "../../domain/request.ts";
import { CounterDeltas } from "../db/counters.ts";
import { AT_ONCE, LONGEST_WAIT } from "../db/due.ts";
import { lockLedger, rowSet, type Trx } from "../db/sql.ts";
import { recordCosts } from "../requests/costs.ts";
import { failWithoutEffect } from "../requests/request-state.ts";
import type { DecidedRequest, StoredRequest } from "../requests/requests.ts";
import { batchRequests } from "./batches.ts";

/** What follows for the requests of a batch whose transaction the node refused. */
export type RefusedBatch = { failure: Extract<ChainOutcome, { ok: false }> } | { returns: number };

/**
 * Closes a batch that reverted as a whole, or whose nonce another transaction used. None of its calls ran, so its requests
 * are ready for another batch.
 * @param mined the block in which the nonce was used, and what the batch's own transaction cost; null: not known yet.
 * @param refused what follows if the node refused the batch's transaction: its only request fails, or its requests count as
 * returned so often that they share only smaller batches. null: it was not refused.
 * @returns the requests that failed.
 */
export async function closeBatch(
  trx: Trx,
  batchId: number,
  mined: { blockNumber: number; cost: (Cost & { day: number }) | null },
  now: number,
  refused: RefusedBatch | null = null,
): Promise<DecidedRequest[]> {
  await lockLedger(trx);
  const closed = await trx
    .updateTable("batches")
    .set({ status: "closed", block_number: mined.blockNumber })
    .where("id", "=", batchId)
    .where("status", "=", "open")
    .executeTakeFirst();
  if (closed.numUpdatedRows !== 1n) return [];
  const requests = await batchRequests(trx, batchId);
  if (mined.cost !== null) {
    const counters = new CounterDeltas();
    await recordCosts(trx, [{ ...mined.cost, batchId, blockNumber: mined.blockNumber }], counters);
    await counters.flush(trx);
  }
  if (refused === null || "returns" in refused) {
    // A refused transaction cost no gas, so its requests need not wait.
    const back = refused === null ? { wait: waitBeforeReturn } : { returns: refused.returns };
    await returnUntouched(trx, requests, batchId, now, back);
    return [];
  }
  // The number of a request with an outcome was used or cancelled in the meantime. That outcome counts.
  const waiting = requests.filter(({ outcome }) => outcome === null);
  return failWithoutEffect(
    trx,
    waiting.map((request) => ({ request, outcome: refused.failure })),
    now,
  );
}

/** Exponential backoff, because each revert of a whole batch costs gas. In milliseconds. */
function waitBeforeReturn(returns: number): number {
  return returns === 0 ? 0 : backoff({ first: 2_000, longest: LONGEST_WAIT }, returns - 1);
}

/**
 * Returns a request whose number was not consumed, for another batch under the same number. The first time it keeps its
 * place before all later requests; otherwise a queue that never empties would starve it. After that it goes behind the queue.
 * @param back.wait milliseconds until it may be claimed again, by how often it was returned before. @param back.returns it then
 * counts as returned at least this often. @param back.counts whether its next batches are smaller for it.
 */
export async function returnUntouched(
  trx: Trx,
  requests: readonly Pick<StoredRequest, "id" | "returns">[],
  batchId: number,
  now: number,
  {
    wait = () => 0,
    returns: least = 0,
    counts = true,
  }: { wait?: (returns: number) => number; returns?: number; counts?: boolean } = {},
): Promise<void> {
  if (requests.length === 0) return;
  const rows = requests.map(({ id, returns }) => ({ id, ready_at: returns === 0 ? AT_ONCE : now + wait(returns) }));
  const more = sql.lit(counts ? 1 : 0);
  await sql`
    update requests set ready_at = input.ready_at, batch_id = null,
           returns = case when returns + ${more} < ${least} then ${least} else returns + ${more} end
      from ${rowSet(trx, { id: "text", ready_at: "integer" }, rows)} as input
     where requests.id = input.id and requests.batch_id = ${batchId}
       and requests.status in ('pending', 'processing') and requests.outcome is null`.execute(trx);
}
