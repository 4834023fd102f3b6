import { type RawBuilder, sql } from "kysely";

import { oldBefore, type PrunedKind, type Removed } from "../../domain/retention.ts";
import { KEEP_SERIES, slotOf } from "../../domain/series.ts";
import { counterKeys } from "../db/counters.ts";
import { type Db, rowSet, textSet, type Trx } from "../db/sql.ts";
import { prunableBatchItems, prunableRawTransactions } from "./batches.ts";
import { prunableDeliveries, prunableFailedDeliveries, prunableTestEvents } from "./deliveries.ts";
import { type Prunable, prunableRows, type PruneLimits, type PruneStep } from "./prunable.ts";

/** Deletes the slots of the charts that no answer can show any more. */
export async function pruneSeries(trx: Trx, now: number): Promise<void> {
  await sql`
    delete from counters
     where key >= ${counterKeys.series(0, "")} and key < ${counterKeys.series(slotOf(now - KEEP_SERIES), "")}`.execute(
    trx,
  );
}

/** Rows with an id. @param ended when a row stopped being of use, in milliseconds. */
function prunableById(table: string, ended: RawBuilder<unknown>, bytes: RawBuilder<unknown>): Prunable {
  return prunableRows<{ id: string }>({
    table,
    isOld: (before) => sql`${ended} < ${before}`,
    age: ended,
    key: sql`id`,
    columns: sql`id`,
    bytes,
    remove: async (trx, rows) => {
      const ids = rows.map(({ id }) => id);
      await sql`delete from ${sql.table(table)} where id in ${textSet(trx, ids)}`.execute(trx);
    },
  });
}

/** `limitOf` keeps the keys of calls that have not finished: it must name each kind that is made of these. */
const OF_KEYS = {
  table: "idempotency_keys",
  age: sql`created_at`,
  key: sql`app_id || ' ' || key`,
  columns: sql`app_id, key`,
};
interface Key {
  app_id: string;
  key: string;
}

function keysOf(trx: Trx, rows: readonly Key[]): RawBuilder<unknown> {
  return sql`(select app_id, key from ${rowSet(trx, { app_id: "text", key: "text" }, rows)} as input)`;
}

const PRUNABLE: Readonly<Record<PrunedKind, Prunable>> = {
  deliveries: prunableDeliveries,
  test_events: prunableTestEvents,
  raw_transactions: prunableRawTransactions,
  batch_items: prunableBatchItems,
  /** Keys of calls that have finished. */
  idempotency_keys: prunableRows<Key>({
    ...OF_KEYS,
    isOld: (before) => sql`created_at < ${before}`,
    bytes: sql`(length(app_id) + length(key)) * 2 + length(fingerprint) + length(response) + 40`,
    remove: async (trx, rows) => {
      await sql`delete from idempotency_keys where (app_id, key) in ${keysOf(trx, rows)}`.execute(trx);
    },
  }),
  /** The console's links and sessions that ended long ago. */
  console_sessions: prunableById(
    "console_sessions",
    sql`expires_at`,
    sql`length(id) * 2 + length(code_hash) * 2 + coalesce(length(hash), 0) * 2 + length(scopes) + 100`,
  ),
  failed_deliveries: prunableFailedDeliveries,
  /**
   * Long answers of calls that have finished: those of batches, with one result for each item. The key and its fingerprint stay,
   * so a repeated call is recognised and does not run again. An empty text says that the answer was here.
   */
  batch_answers: prunableRows<Key>({
    ...OF_KEYS,
    // The condition of the index `idempotency_keys_long`. The answer to a call that creates one thing is shorter.
    isOld: (before) => sql`length(response) > 2000 and created_at < ${before}`,
    bytes: sql`length(response)`,
    // An answer can have 350 kB.
    step: 50,
    remove: async (trx, rows) => {
      await sql`update idempotency_keys set response = '' where (app_id, key) in ${keysOf(trx, rows)}`.execute(trx);
    },
  }),
  /** Tokens that were revoked or expired long ago. A call with such a token gets 401 as before: the service does not know it. */
  api_tokens: prunableById(
    "api_tokens",
    // When a token stopped working; null: it still works. The index `api_tokens_ended` has the same expression.
    sql`(case when expires_at is null or revoked_at < expires_at then revoked_at else expires_at end)`,
    sql`length(id) * 2 + length(app_id) * 2 + length(name) + length(hash) * 2 + length(scopes) + 60`,
  ),
};

/** How old a row must be. `now` in milliseconds since 1970. */
interface Age {
  now: number;
  days: number;
}

/** Counts what is old, and changes nothing. */
export async function countOld(db: Db, kind: PrunedKind, age: Age): Promise<Removed> {
  return PRUNABLE[kind].count(db, await limitOf(db, kind, age));
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
  return PRUNABLE[kind].prune(trx, await limitOf(trx, kind, age), { most, without });
}

/**
 * A clock that runs far ahead must not make a repeated call run twice, or lose its answer. So for idempotency keys the time of
 * the newest block counts if it is earlier, and keys of calls that have not finished stay. No other kind decides how a repeated
 * call is answered.
 */
async function limitOf(db: Db, kind: PrunedKind, { now, days }: Age): Promise<number> {
  if (kind !== "idempotency_keys" && kind !== "batch_answers") return oldBefore(now, days);
  const newest = await db
    .selectFrom("blocks")
    .select("timestamp")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return finishedBefore(db, oldBefore(Math.min(now, newest?.timestamp ?? 0), days));
}

/** Requests that were accepted at the same time, by processes whose clocks differ, are not in the order of their times. */
const MARGIN = 3_600_000;

/**
 * The time, at most `limit`, before which all calls have finished. A key has the time of its request, so all keys before the
 * oldest request that is not final belong to such calls.
 */
async function finishedBefore(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ open: number | null }>`
    select min(request.created_at) as open
      from (select (select min(seq) from requests where app_id = apps.id and status = 'pending') as seq from apps
            union all
            select (select min(seq) from requests where app_id = apps.id and status = 'processing') from apps) as oldest
      join requests as request on request.seq = oldest.seq`.execute(db);
  const open = rows[0]?.open ?? null;
  return open === null ? limit : Math.min(limit, open - MARGIN);
}
