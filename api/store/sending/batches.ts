import { sql } from "kysely";

import { AT_ONCE, LONGEST_WAIT } from "../db/due.ts";
import type { Db, Trx } from "../db/engine.ts";
import { lockLedger } from "../db/locks.ts";
import { rowSet } from "../db/row-set.ts";
import type { AttemptRow, BatchRow } from "../db/schema.ts";
import { chargeReverted } from "../requests/gas-usage.ts";
import { markProcessing } from "../requests/request-state.ts";
import type { ClaimedRequest } from "./claims.ts";
import { type StoredRequest, toNumberedRequest } from "../requests/stored-request.ts";
import { holdLease, type Lease } from "./lanes.ts";

/** A signed version of a batch's transaction. It is committed before it is broadcast. */
export interface SignedAttempt {
  hash: string;
  raw: string;
  maxFeePerGas: bigint;
  maxPriorityFeePerGas: bigint;
  gasLimit: bigint;
}

/** A signed version as it is stored. Times in milliseconds since 1970. */
export interface StoredAttempt extends SignedAttempt {
  id: number;
  createdAt: number;
  /** When it was last handed to a node; null: never yet. */
  sentAt: number | null;
}

/** A batch whose nonce no known block has used, with all its signed versions, oldest first. */
export interface OpenBatch extends BatchRow {
  attempts: StoredAttempt[];
}

function toAttempt(row: AttemptRow): StoredAttempt {
  return {
    id: row.id,
    hash: row.hash,
    raw: row.raw,
    maxFeePerGas: BigInt(row.max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(row.max_priority_fee_per_gas),
    gasLimit: BigInt(row.gas_limit),
    createdAt: row.created_at,
    sentAt: row.sent_at,
  };
}

/**
 * Stores a batch with its nonce and its signed bytes. The bytes may be broadcast only after the commit, so that they are known
 * after any crash.
 */
export async function recordBatch(
  trx: Trx,
  lease: Lease,
  batch: { nonce: number; requests: ClaimedRequest[]; attempt: SignedAttempt },
  now: number,
): Promise<{ batchId: number; attemptId: number }> {
  await holdLease(trx, lease);
  const taken = await trx
    .updateTable("lanes")
    .set({ next_nonce: batch.nonce + 1 })
    .where("lane", "=", lease.lane)
    .where("next_nonce", "=", batch.nonce)
    .executeTakeFirst();
  if (taken.numUpdatedRows !== 1n)
    throw new Error(`nonce ${batch.nonce.toString()} of lane ${lease.lane.toString()} is taken`);
  const { id: batchId } = await trx
    .insertInto("batches")
    .values({
      lane: lease.lane,
      nonce: batch.nonce,
      status: "open",
      size: batch.requests.length,
      block_number: null,
      created_at: now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  const attemptId = await insertAttempt(trx, batchId, batch.attempt, now);
  await insertItems(trx, batchId, batch.requests);
  await markProcessing(trx, batch.requests, { batchId, transactionHash: batch.attempt.hash }, now);
  return { batchId, attemptId };
}

/** The batch carries these requests, in this order. */
async function insertItems(trx: Trx, batchId: number, requests: readonly { id: string }[]): Promise<void> {
  const rows = requests.map(({ id }) => ({ id }));
  await sql`
    insert into batch_items (batch_id, position, request_id)
    select ${batchId}, ord, id from ${rowSet(trx, { id: "text" }, rows)} as input`.execute(trx);
}

/**
 * Stores a replacement transaction of an open batch: same nonce, higher fee. Every version stays watched.
 * @returns null when the batch is closed by now; then nothing is stored.
 */
export async function recordAttempt(
  trx: Trx,
  lease: Lease,
  batchId: number,
  attempt: SignedAttempt,
  now: number,
): Promise<number | null> {
  await holdLease(trx, lease);
  const open = await trx
    .selectFrom("batches")
    .select("id")
    .where("id", "=", batchId)
    .where("status", "=", "open")
    .executeTakeFirst();
  return open === undefined ? null : insertAttempt(trx, batchId, attempt, now);
}

/** @param sentAt set when the chain shows that it was sent; null: it will be sent next. @returns its id. */
export async function insertAttempt(
  trx: Trx,
  batchId: number,
  attempt: SignedAttempt,
  now: number,
  sentAt: number | null = null,
): Promise<number> {
  const { id } = await trx
    .insertInto("attempts")
    .values({
      batch_id: batchId,
      hash: attempt.hash,
      raw: attempt.raw,
      max_fee_per_gas: attempt.maxFeePerGas.toString(),
      max_priority_fee_per_gas: attempt.maxPriorityFeePerGas.toString(),
      gas_limit: attempt.gasLimit.toString(),
      created_at: now,
      sent_at: sentAt,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return id;
}

export async function markSent(trx: Trx, attemptId: number, now: number): Promise<void> {
  await trx.updateTable("attempts").set({ sent_at: now }).where("id", "=", attemptId).execute();
}

/** Unmined batches, lowest nonce first, each with all its attempts. */
export async function openBatches(db: Db, lane?: number): Promise<OpenBatch[]> {
  let query = db
    .selectFrom("batches")
    .selectAll()
    .where("status", "=", sql.lit("open"))
    .orderBy("lane")
    .orderBy("nonce");
  if (lane !== undefined) query = query.where("lane", "=", lane);
  const batches = await query.execute();
  if (batches.length === 0) return [];
  const attempts = await db
    .selectFrom("attempts")
    .selectAll()
    .where(
      "batch_id",
      "in",
      batches.map((batch) => batch.id),
    )
    .orderBy("id")
    .execute();
  const byBatch = Map.groupBy(attempts, (attempt) => attempt.batch_id);
  return batches.map((batch) => ({ ...batch, attempts: (byBatch.get(batch.id) ?? []).map(toAttempt) }));
}

/** All requests of a batch in the order of its calls, in any status. */
export async function batchRequests(db: Db, batchId: number): Promise<ClaimedRequest[]> {
  const rows = await db
    .selectFrom("batch_items")
    .innerJoin("requests", "requests.id", "batch_items.request_id")
    .selectAll("requests")
    .where("batch_items.batch_id", "=", batchId)
    .orderBy("batch_items.position")
    .execute();
  return rows.map(toNumberedRequest);
}

/** Batch ids by the hash of any of their signed versions. */
export async function batchesByHash(db: Db, hashes: string[]): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (let start = 0; start < hashes.length; start += 500) {
    const rows = await db
      .selectFrom("attempts")
      .select(["hash", "batch_id"])
      .where("hash", "in", hashes.slice(start, start + 500))
      .execute();
    for (const row of rows) found.set(row.hash, row.batch_id);
  }
  return found;
}

/** The signed bytes of one version of a batch. */
export async function signedBytes(db: Db, hash: string): Promise<string | null> {
  const row = await db.selectFrom("attempts").select("raw").where("hash", "=", hash).executeTakeFirst();
  return row?.raw ?? null;
}

/** Closes a batch that reverted as a whole. None of its calls ran, so its requests are ready for another batch. */
export async function closeBatch(
  trx: Trx,
  batchId: number,
  reverted: { blockNumber: number; gasUsed: bigint },
  now: number,
): Promise<void> {
  await lockLedger(trx);
  const closed = await trx
    .updateTable("batches")
    .set({ status: "closed", block_number: reverted.blockNumber })
    .where("id", "=", batchId)
    .where("status", "=", "open")
    .executeTakeFirst();
  if (closed.numUpdatedRows !== 1n) return;
  const requests = await batchRequests(trx, batchId);
  await chargeReverted(trx, requests, Number(reverted.gasUsed));
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
