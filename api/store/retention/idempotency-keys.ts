import { type RawBuilder, sql } from "kysely";

import type { Db } from "../db/engine.ts";
import { forUpdateSkipLocked } from "../db/row-locks.ts";
import { rowSet } from "../db/row-set.ts";
import { countRows, NOTHING, notParked, type Prunable, removing, sumOf } from "./prunable.ts";

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
export const prunableIdempotencyKeys: Prunable = {
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
export const prunableBatchAnswers: Prunable = {
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
