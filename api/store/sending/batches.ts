import { sql } from "kysely";

import { BROADCAST_ANSWERS, type BroadcastAnswer } from "../../domain/broadcast-answer.ts";
import { type Db, rowSet, textSet, type Trx } from "../db/sql.ts";
import type { AttemptRow, BatchRow } from "../db/schema.ts";
import { markProcessing } from "../requests/request-state.ts";
import { type NumberedRequest, type StoredRequest, toNumberedRequest } from "../requests/requests.ts";
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
export interface StoredAttempt extends Omit<SignedAttempt, "raw"> {
  id: number;
  /** null: pruned, long after a block contained the batch. */
  raw: string | null;
  createdAt: number;
  /** When it was last handed to a node; null: never yet. */
  sentAt: number | null;
  /** What the node last said about it; `accepted` if it ever said so. null: it was not asked. */
  answer: BroadcastAnswer | null;
}

/** Thrown when another transaction of the lane has the nonce by now. The batch's requests are not the cause. */
export class NonceTaken extends Error {
  override readonly name = "NonceTaken";
}

/** A batch whose nonce no known block has used, with all its signed versions, oldest first. */
export interface OpenBatch extends BatchRow {
  attempts: StoredAttempt[];
}

/** A batch with the first signed version of its transaction. Once this is committed, the bytes may be broadcast. */
export interface RecordedBatch extends SignedAttempt {
  batchId: number;
  attemptId: number;
  nonce: number;
  /** The requests that no earlier batch carried. */
  firstTime: StoredRequest[];
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
    answer: BROADCAST_ANSWERS.find((answer) => answer === row.answer) ?? null,
  };
}

/**
 * Stores a batch with its nonce and its signed bytes. They may be broadcast only after the commit.
 * @param batch its requests in the order of its calls, with the gas that each is expected to use.
 * @throws NonceTaken, LeaseLost
 */
export async function recordBatch(
  trx: Trx,
  lease: Lease,
  batch: { nonce: number; requests: NumberedRequest[]; weights: readonly number[]; attempt: SignedAttempt },
  now: number,
): Promise<RecordedBatch> {
  await holdLease(trx, lease);
  const taken = await trx
    .updateTable("lanes")
    .set({ next_nonce: batch.nonce + 1 })
    .where("lane", "=", lease.lane)
    .where("next_nonce", "=", batch.nonce)
    .executeTakeFirst();
  if (taken.numUpdatedRows !== 1n)
    throw new NonceTaken(`nonce ${batch.nonce.toString()} of lane ${lease.lane.toString()} is taken`);
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
  const items = batch.requests.map(({ id }, index) => ({ id, weight: batch.weights[index] ?? null }));
  await sql`
    insert into batch_items (batch_id, position, request_id, weight)
    select ${batchId}, ord, id, weight
      from ${rowSet(trx, { id: "text", weight: "integer" }, items)} as input`.execute(trx);
  const firstTime = await markProcessing(trx, batch.requests, { batchId, transactionHash: batch.attempt.hash }, now);
  return { ...batch.attempt, nonce: batch.nonce, batchId, attemptId, firstTime };
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

/** Records that an attempt was handed to the node, and its answer. That a node has accepted it is never forgotten. */
export async function markSent(trx: Trx, attemptId: number, answer: BroadcastAnswer, now: number): Promise<void> {
  await sql`
    update attempts set sent_at = ${now}, answer = case when answer = 'accepted' then answer else ${answer} end
     where id = ${attemptId}`.execute(trx);
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
export async function batchRequests(db: Db, batchId: number): Promise<NumberedRequest[]> {
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
  if (hashes.length === 0) return new Map();
  const { rows } = await sql<{ hash: string; batch_id: number }>`
    select hash, batch_id from attempts where hash in ${textSet(db, hashes)}`.execute(db);
  return new Map(rows.map((row) => [row.hash, row.batch_id]));
}
