import { oldBefore, type PrunedKind, type Removed } from "../../domain/retention.ts";
import type { Db, Trx } from "../db/engine.ts";
import { prunableBatchItems, prunableRawTransactions } from "./batches.ts";
import { prunableApiTokens, prunableConsoleSessions } from "./credentials.ts";
import { prunableDeliveries, prunableFailedDeliveries, prunableTestEvents } from "./deliveries.ts";
import { prunableBatchAnswers, prunableIdempotencyKeys } from "./idempotency-keys.ts";
import type { Prunable, PruneLimits, PruneStep } from "./prunable.ts";

const PRUNABLE: Readonly<Record<PrunedKind, Prunable>> = {
  deliveries: prunableDeliveries,
  test_events: prunableTestEvents,
  raw_transactions: prunableRawTransactions,
  batch_items: prunableBatchItems,
  idempotency_keys: prunableIdempotencyKeys,
  console_sessions: prunableConsoleSessions,
  failed_deliveries: prunableFailedDeliveries,
  batch_answers: prunableBatchAnswers,
  api_tokens: prunableApiTokens,
};

/** How old a row must be. `now` in milliseconds since 1970. */
interface Age {
  now: number;
  days: number;
}

/** Counts what is old, and changes nothing. */
export async function countOld(db: Db, kind: PrunedKind, age: Age): Promise<Removed> {
  return PRUNABLE[kind].count(db, await before(db, kind, age));
}

/** Most rows of a kind that one step removes. */
export function largestStep(kind: PrunedKind): number {
  return PRUNABLE[kind].step;
}

/**
 * Removes the oldest rows of a kind: one step of many.
 * @throws RowNotPruned when the step is a single row that cannot be removed
 */
export async function pruneSome(
  trx: Trx,
  kind: PrunedKind,
  age: Age,
  { most = largestStep(kind), without = [] }: Partial<PruneLimits> = {},
): Promise<PruneStep> {
  return PRUNABLE[kind].prune(trx, await before(trx, kind, age), { most, without });
}

/**
 * A clock that runs far ahead must not make a repeated call run twice, or lose its answer. So for idempotency keys the time of
 * the newest block counts if it is earlier. No other kind decides how a repeated call is answered.
 */
async function before(db: Db, kind: PrunedKind, { now, days }: Age): Promise<number> {
  if (kind !== "idempotency_keys" && kind !== "batch_answers") return oldBefore(now, days);
  const newest = await db
    .selectFrom("blocks")
    .select("timestamp")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return oldBefore(Math.min(now, newest?.timestamp ?? 0), days);
}
