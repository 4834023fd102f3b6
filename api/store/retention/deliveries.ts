import { type RawBuilder, sql } from "kysely";

import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { forUpdateSkipLocked, integerSet, type Trx } from "../db/sql.ts";
import { countRows, NOTHING, notParked, type Prunable, prunableRows, removing, STEP, sumOf } from "./prunable.ts";

const KEY = sql`cast(seq as text)`;

/** Deliveries that will not be sent again by themselves. */
function prunableIn(status: "delivered" | "failed"): Prunable {
  return prunableRows<{ seq: number; app_id: string }>({
    table: "deliveries",
    // The status is part of the text, so that its index is used.
    isOld: (before) => sql`status = ${sql.lit(status)} and updated_at < ${before}`,
    age: sql`updated_at`,
    key: KEY,
    columns: sql`seq, app_id`,
    bytes: sql`length(id) * 2 + length(app_id) * 2 + coalesce(length(request_id), 0) + coalesce(length(response_body), 0) + 60`,
    remove: async (trx, rows) => {
      await sql`delete from deliveries where seq in ${seqsOf(trx, rows)}`.execute(trx);
      await uncount(trx, rows);
    },
  });
}

/** Deliveries that were accepted by their receivers. Those that wait are kept. */
export const prunableDeliveries = prunableIn("delivered");

/** Deliveries whose last try failed. The app or the operator can send them again as long as they are kept. */
export const prunableFailedDeliveries = prunableIn("failed");

const OLD_EVENT_BYTES = sql`length(id) * 2 + length(app_id) + length(body) + 60`;

/** An event that still waits to be delivered is kept. */
function oldTests(before: number): RawBuilder<unknown> {
  return sql`events where type = 'test' and created_at < ${before}
   and not exists (select 1 from deliveries where deliveries.event_seq = events.seq and deliveries.status = 'pending')`;
}

/** Test events, which are not in the feed, with all their deliveries. */
export const prunableTestEvents: Prunable = {
  count: (db, before) => countRows(db, oldTests(before), OLD_EVENT_BYTES),
  step: STEP,
  prune: async (trx, before, limits) => {
    // A delivery that is added meanwhile holds its event, so the event is passed over.
    const { rows: locked } = await sql<{ seq: number }>`
      select seq from ${oldTests(before)} ${notParked(trx, KEY, limits)}
       order by created_at limit ${limits.most} ${forUpdateSkipLocked(trx, "events")}`.execute(trx);
    if (locked.length === 0) return NOTHING;
    // Asked again: on PostgreSQL, a delivery may have been added after the first statement began and before it locked.
    const { rows } = await sql<{ seq: number; row_key: string; bytes: number }>`
      select seq, ${KEY} as row_key, ${OLD_EVENT_BYTES} as bytes from ${oldTests(before)}
         and seq in ${seqsOf(trx, locked)}`.execute(trx);
    if (rows.length === 0) return NOTHING;
    await removing(rows, async () => {
      const { rows: deliveries } = await sql<{ app_id: string }>`
        delete from deliveries where event_seq in ${seqsOf(trx, rows)} returning app_id`.execute(trx);
      await sql`delete from events where seq in ${seqsOf(trx, rows)}`.execute(trx);
      await uncount(trx, deliveries);
    });
    return sumOf(rows, limits.most);
  },
};

function seqsOf(trx: Trx, rows: readonly { seq: number }[]): RawBuilder<unknown> {
  return integerSet(
    trx,
    rows.map(({ seq }) => seq),
  );
}

async function uncount(trx: Trx, deliveries: readonly { app_id: string }[]): Promise<void> {
  const counters = new CounterDeltas();
  for (const { app_id } of deliveries) counters.add(counterKeys.deliveries(app_id), -1);
  await counters.flush(trx);
}
