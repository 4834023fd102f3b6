import { type RawBuilder, sql } from "kysely";

import { oldBefore, type PrunedKind, type Removed } from "../../domain/retention.ts";
import { KEEP_SERIES, slotOf } from "../../domain/series.ts";
import { counterKeys } from "../db/counters.ts";
import { type Db, forUpdateSkipLocked, rowSet, textSet, type Trx } from "../db/sql.ts";
import { prunableBatchItems, prunableRawTransactions } from "./batches.ts";
import { prunableDeliveries, prunableFailedDeliveries, prunableTestEvents } from "./deliveries.ts";
import {
  countRows,
  NOTHING,
  notParked,
  type Prunable,
  type PruneLimits,
  type PruneStep,
  removing,
  sumOf,
} from "./prunable.ts";

/** About what a session takes, with its entries in indexes. */
const SESSION_BYTES = sql`length(id) * 2 + length(code_hash) * 2 + coalesce(length(hash), 0) * 2 + length(scopes) + 100`;

/** About what a token takes, with its entries in indexes. */
const TOKEN_BYTES = sql`length(id) * 2 + length(app_id) * 2 + length(name) + length(hash) * 2 + length(scopes) + 60`;

/** When a token stopped working; null: it still works. The index `api_tokens_ended` has the same expression. */
const TOKEN_ENDED = sql`(case when expires_at is null or revoked_at < expires_at then revoked_at else expires_at end)`;

/** Rows with an id, which nothing refers to. @param ended when a row stopped being of use, in milliseconds. */
function prunable(table: string, ended: RawBuilder<unknown>, bytes: RawBuilder<unknown>): Prunable {
  const old = (before: number) => sql`${sql.table(table)} where ${ended} < ${before}`;
  return {
    count: (db, before) => countRows(db, old(before), bytes),
    step: 500,
    prune: async (trx, before, limits) => {
      const { rows } = await sql<{ id: string; row_key: string; bytes: number }>`
        select id, id as row_key, ${bytes} as bytes from ${old(before)} ${notParked(trx, sql`id`, limits)}
         order by ${ended} limit ${limits.most} ${forUpdateSkipLocked(trx, table)}`.execute(trx);
      if (rows.length === 0) return NOTHING;
      const ids = rows.map(({ id }) => id);
      await removing(rows, async () => {
        await sql`delete from ${sql.table(table)} where id in ${textSet(trx, ids)}`.execute(trx);
      });
      return sumOf(rows, limits.most);
    },
  };
}

/** The console's links and sessions that ended long ago. */
const prunableConsoleSessions = prunable("console_sessions", sql`expires_at`, SESSION_BYTES);

/** Tokens that were revoked or expired long ago. A call with such a token gets 401 as before: the service does not know it. */
const prunableApiTokens = prunable("api_tokens", TOKEN_ENDED, TOKEN_BYTES);

/** Deletes the slots of the charts that no answer can show any more. */
export async function pruneSeries(trx: Trx, now: number): Promise<void> {
  await sql`
    delete from counters
     where key >= ${counterKeys.series(0, "")} and key < ${counterKeys.series(slotOf(now - KEEP_SERIES), "")}`.execute(
    trx,
  );
}

const KEY = sql`app_id || ' ' || key`;
/** Requests that were accepted at the same time, by processes whose clocks differ, are not in the order of their times. */
const MARGIN = 3_600_000;

/** About what a key takes, with its entries in indexes. */
const BYTES = sql`(length(app_id) + length(key)) * 2 + length(fingerprint) + length(response) + 40`;

function old(before: number): RawBuilder<unknown> {
  return sql`idempotency_keys where created_at < ${before}`;
}

/**
 * Keys of calls that have finished. A key has the time of its request, so all keys before the oldest request that is not final
 * have finished.
 */
const prunableIdempotencyKeys: Prunable = {
  count: async (db, before) => countRows(db, old(await bound(db, before)), BYTES),
  step: 500,
  prune: async (trx, before, limits) => {
    const { rows } = await sql<{ app_id: string; key: string; row_key: string; bytes: number }>`
      select app_id, key, ${KEY} as row_key, ${BYTES} as bytes from ${old(await bound(trx, before))} ${notParked(trx, KEY, limits)}
       order by created_at limit ${limits.most} ${forUpdateSkipLocked(trx, "idempotency_keys")}`.execute(trx);
    if (rows.length === 0) return NOTHING;
    const keys = rows.map(({ app_id, key }) => ({ app_id, key }));
    await removing(rows, async () => {
      await sql`
        delete from idempotency_keys
         where (app_id, key) in (select app_id, key from ${rowSet(trx, { app_id: "text", key: "text" }, keys)} as input)`.execute(
        trx,
      );
    });
    return sumOf(rows, limits.most);
  },
};

/** The condition of the index `idempotency_keys_long`. The answer to a call that creates one thing is shorter. */
function oldAnswers(before: number): RawBuilder<unknown> {
  return sql`idempotency_keys where length(response) > 2000 and created_at < ${before}`;
}

/**
 * Long answers of calls that have finished: those of batches, with one result for each item. The key and its fingerprint stay, so
 * a repeated call is recognised and does not run again. An empty text says that the answer was here.
 */
const prunableBatchAnswers: Prunable = {
  count: async (db, before) => countRows(db, oldAnswers(await bound(db, before)), sql`length(response)`),
  // An answer can have 350 kB.
  step: 50,
  prune: async (trx, before, limits) => {
    const { rows } = await sql<{ app_id: string; key: string; row_key: string; bytes: number }>`
      select app_id, key, ${KEY} as row_key, length(response) as bytes
        from ${oldAnswers(await bound(trx, before))} ${notParked(trx, KEY, limits)}
       order by created_at limit ${limits.most} ${forUpdateSkipLocked(trx, "idempotency_keys")}`.execute(trx);
    if (rows.length === 0) return NOTHING;
    const keys = rows.map(({ app_id, key }) => ({ app_id, key }));
    await removing(rows, async () => {
      await sql`
        update idempotency_keys set response = ''
         where (app_id, key) in (select app_id, key from ${rowSet(trx, { app_id: "text", key: "text" }, keys)} as input)`.execute(
        trx,
      );
    });
    return sumOf(rows, limits.most);
  },
};

/** The time before which keys may go. */
async function bound(db: Db, before: number): Promise<number> {
  const { rows } = await sql<{ open: number | null }>`
    select min(request.created_at) as open
      from (select (select min(seq) from requests where app_id = apps.id and status = 'pending') as seq from apps
            union all
            select (select min(seq) from requests where app_id = apps.id and status = 'processing') from apps) as oldest
      join requests as request on request.seq = oldest.seq`.execute(db);
  const open = rows[0]?.open ?? null;
  return open === null ? before : Math.min(before, open - MARGIN);
}

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
