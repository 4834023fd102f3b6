import { type RawBuilder, sql, type SqlBool } from "kysely";

import { type Db, integerSet, rowSet, textSet, type Trx } from "../db/sql.ts";
import { type FailedRow, mayBeTried, type ParkedRow, parkRows } from "../db/parked-rows.ts";
import { type Queue, roundRobin } from "../db/round-robin.ts";
import { CrashedAlone, CRASHES_ALONE, type LoneRuns, type UnderWay } from "../db/under-way.ts";
import { findWallets } from "../apps/wallets.ts";
import { LONGEST_DELIVERY_WAIT } from "./deliveries.ts";
import { textsWithUsers } from "./event-users.ts";

/** A delivery that is due, with everything that posting it takes. */
export interface DueDelivery extends UnderWay {
  id: string;
  seq: number;
  webhookId: string;
  appId: string;
  eventId: string;
  /** The event's body, with the names that its users have now. It is sent and signed byte for byte. */
  payload: string;
  tries: number;
  /** Fencing token: grows each time the delivery is leased, so an earlier holder can change nothing any more. */
  fence: number;
  url: string;
  /** Sealed signing secrets. */
  secrets: string;
  nextAt: number;
  /** Not 0 if it waits for an earlier delivery of its subject. */
  behindEarlier: number;
}

const DUE: Queue = { table: "deliveries", owner: "webhook_id", at: "next_at" };
/** `dueDeliveries` returns at most this many rows, in all and of one webhook. */
export const MOST_FOUND = 512;
const MOST_OF_WEBHOOK = 128;

interface LeaseOptions {
  now: number;
  leaseUntil: number;
  holder: string;
  loneRuns: LoneRuns;
  /** Deliveries that this process has leased, and whose results are not stored. */
  running: number;
}

/**
 * Leases due deliveries for one try. Of each subject only the oldest pending delivery of a webhook is leased, so that
 * its events arrive in order; the others wait as long as it does. The lease keeps other processes away until `leaseUntil`;
 * if this process dies, the delivery is due again then.
 * @returns the deliveries that no other process has leased meanwhile; those that are parked, because processes died at them also
 * while they ran alone; and whether some must run alone.
 */
export async function leaseDeliveries(
  trx: Trx,
  due: readonly DueDelivery[],
  options: LeaseOptions,
): Promise<{ leased: DueDelivery[]; parked: ParkedRow[]; someMustRunAlone: boolean }> {
  const [first, later] = [
    due.filter(({ behindEarlier }) => behindEarlier === 0),
    due.filter(({ behindEarlier }) => behindEarlier !== 0),
  ];
  const { run, aside, someMustRunAlone } = options.loneRuns.sort(first, options.running, ({ webhookId }) => webhookId);
  const leased = await lease(trx, run, options);
  const crashed = aside.map(({ id, fence, crashes }) => ({ id, fence, error: new CrashedAlone(crashes) }));
  // They are found again when they are due, and parked again.
  const parked = await parkDeliveries(trx, crashed, options.now, CRASHES_ALONE + 1);
  await putBehindEarlier(trx, later);
  leased.sort((a, b) => a.nextAt - b.nextAt || a.seq - b.seq);
  return { leased, parked, someMustRunAlone };
}

/**
 * The first deliveries that are due, without those of some webhooks. However long the queue of one webhook is, the work is
 * bounded.
 */
export async function dueDeliveries(db: Db, now: number, without: readonly string[]): Promise<DueDelivery[]> {
  const owners = (id: RawBuilder<string>) => sql<SqlBool>`
    ${id} not in ${textSet(db, without)}
    and exists (select 1 from webhooks where webhooks.id = ${id} and webhooks.disabled_at is null)
    and not exists (select 1 from abandoned_deliveries as abandoned where abandoned.webhook_id = ${id})`;
  const options = { now, longestWait: LONGEST_DELIVERY_WAIT, limit: MOST_FOUND, limitOfOwner: MOST_OF_WEBHOOK, owners };
  const { rows } = await sql<DueDelivery>`
    ${roundRobin(db, DUE, options)}
    select delivery.seq as "seq", delivery.id as "id", delivery.app_id as "appId", delivery.webhook_id as "webhookId",
           delivery.next_at as "nextAt",
           delivery.tries as "tries", delivery.fence as "fence", events.id as "eventId", events.body as "payload",
           webhooks.url as "url", webhooks.secrets as "secrets",
           delivery.holder as "holder", delivery.crashes as "crashes",
           case when exists (select 1 from deliveries as earlier
                              where earlier.webhook_id = delivery.webhook_id and earlier.subject = delivery.subject
                                and earlier.seq < delivery.seq and earlier.status = 'pending') then 1 else 0 end as "behindEarlier"
      from due
      join deliveries as delivery on delivery.seq = due.seq
      join events on events.seq = delivery.event_seq
      join webhooks on webhooks.id = delivery.webhook_id
     where ${mayBeTried("delivery", sql`delivery.id`, now)}
     order by due.place, due.at, due.seq limit ${MOST_FOUND}`.execute(db);
  const stored = rows.map(({ appId, payload: text }) => ({ appId, text }));
  const payloads = await textsWithUsers((calls) => findWallets(db, calls), stored);
  return rows.map((row, index) => ({ ...row, payload: payloads[index] ?? row.payload }));
}

/** @returns the deliveries that no other process has leased meanwhile, with their new fencing token. */
async function lease(
  trx: Trx,
  rows: readonly DueDelivery[],
  { leaseUntil, holder }: Pick<LeaseOptions, "leaseUntil" | "holder">,
): Promise<DueDelivery[]> {
  if (rows.length === 0) return [];
  const { rows: leased } = await sql<{ seq: number; fence: number }>`
    update deliveries set next_at = ${leaseUntil}, fence = deliveries.fence + 1, holder = ${holder}, crashes = input.crashes
      from ${rowSet(trx, { seq: "integer", fence: "integer", crashes: "integer" }, rows)} as input
     where deliveries.seq = input.seq and deliveries.fence = input.fence and deliveries.status = 'pending'
    returning deliveries.seq as seq, deliveries.fence as fence`.execute(trx);
  const fences = new Map(leased.map(({ seq, fence }) => [seq, fence]));
  return rows.flatMap((row) => {
    const fence = fences.get(row.seq);
    return fence === undefined ? [] : [{ ...row, fence }];
  });
}

/** A delivery with its fencing token: proof that this process has leased it. */
type LeasedDelivery = Pick<DueDelivery, "id" | "fence">;

/**
 * Puts off deliveries that were leased until they are due again. Those that another process has leased meanwhile stay as they are.
 * @param holder the process that still works on them; null: none does.
 */
export async function putOffDeliveries(
  trx: Trx,
  leased: readonly LeasedDelivery[],
  until: number,
  holder: string | null,
): Promise<void> {
  await setTimes(trx, leased, () => until, sql`holder = ${holder}`);
}

/** Parks deliveries, unless another process has leased them meanwhile. @param crashes of each: see `LoneRuns`. */
export async function parkDeliveries(
  trx: Trx,
  failed: readonly (LeasedDelivery & FailedRow)[],
  now: number,
  crashes = 0,
): Promise<ParkedRow[]> {
  const parked = await parkRows(trx, "delivery", failed, now);
  const times = new Map(parked.map(({ id, nextAt }) => [id, nextAt]));
  await setTimes(trx, failed, (id) => times.get(id) ?? now, sql`holder = null, crashes = ${crashes}`);
  return parked;
}

async function setTimes(
  trx: Trx,
  leased: readonly LeasedDelivery[],
  nextAt: (id: string) => number,
  change: RawBuilder<unknown>,
): Promise<void> {
  if (leased.length === 0) return;
  const rows = leased.map(({ id, fence }) => ({ id, fence, next_at: nextAt(id) }));
  await sql`
    update deliveries set next_at = input.next_at, ${change}
      from ${rowSet(trx, { id: "text", fence: "integer", next_at: "integer" }, rows)} as input
     where deliveries.id = input.id and deliveries.fence = input.fence and deliveries.status = 'pending'`.execute(trx);
}

/** Moves deliveries that wait for an earlier one of their subject behind it, so that no later read passes over them. */
async function putBehindEarlier(trx: Trx, rows: readonly DueDelivery[]): Promise<void> {
  if (rows.length === 0) return;
  const seqs = rows.map(({ seq }) => seq);
  await sql`
    update deliveries
       set next_at = coalesce((select earlier.next_at from deliveries as earlier
                                where earlier.webhook_id = deliveries.webhook_id and earlier.subject = deliveries.subject
                                  and earlier.seq < deliveries.seq and earlier.status = 'pending'
                                order by earlier.seq limit 1), next_at)
     where status = 'pending' and seq in ${integerSet(trx, seqs)}`.execute(trx);
}
