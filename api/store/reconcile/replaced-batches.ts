import { NO_COST } from "../../domain/cost-shares.ts";
import { dayOf } from "../../domain/day.ts";
import { isFinal } from "../../domain/request.ts";
import type { Db, Trx } from "../db/sql.ts";
import { batchRequests } from "../sending/batches.ts";
import { closeBatch } from "../sending/close-batch.ts";
import { type StoredRequest, toRequest } from "../requests/stored-request.ts";
import { batchAt, type LostBatch } from "./adopt-lost-batches.ts";

/** A batch of this database whose nonce an unknown batch with other requests has used. */
export async function replacedBatch(db: Db, batch: LostBatch): Promise<number | null> {
  const id = await batchAt(db, batch.lane, batch.nonce);
  if (id === undefined) return null;
  const known = (await batchRequests(db, id)).map((request) => request.number);
  return known.join() === batch.calls.map((call) => call.number).join() ? null : id;
}

/** Empties a batch that no block can contain any more. Its requests wait for another one. */
export async function emptyReplaced(trx: Trx, id: number, block: number, now: number): Promise<void> {
  await closeBatch(trx, id, { blockNumber: block, cost: { ...NO_COST, day: dayOf(now) } }, now);
  await trx.deleteFrom("batch_items").where("batch_id", "=", id).execute();
  await trx.deleteFrom("attempts").where("batch_id", "=", id).execute();
}

/**
 * Requests that may have been sent under a number that the database does not know, oldest first: pending ones without a
 * number, and those of batches that were replaced by unknown ones.
 */
export async function perhapsSent(db: Db, replaced: readonly number[]): Promise<StoredRequest[]> {
  const rows = await db
    .selectFrom("requests")
    .selectAll()
    .where("number", "is", null)
    .where("status", "=", "pending")
    .orderBy("seq")
    .execute();
  const waiting = rows.map(toRequest);
  for (const id of replaced) {
    const requests = await batchRequests(db, id);
    waiting.push(...requests.filter(({ status, outcome }) => !isFinal(status) && outcome === null));
  }
  return waiting.sort((one, other) => one.seq - other.seq);
}
