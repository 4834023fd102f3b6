import { randomUUID } from "node:crypto";

import { sql } from "kysely";

import { AT_ONCE } from "../db/due.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../db/counters.ts";
import { engineOf, type Trx } from "../db/engine.ts";
import { type Slots, takeFairly } from "../db/fair-share.ts";
import { rowSet } from "../db/row-set.ts";
import type { DeliveryRow, EventRow, NewDeliveryRow } from "../db/schema.ts";

/** A due delivery, with everything that is needed to send it. */
export interface DueDelivery {
  id: string;
  appId: string;
  eventId: string;
  /** The event's body as it was stored. It is sent and signed byte for byte, so nobody parses it on the way. */
  payload: string;
  tries: number;
  url: string;
  /** Encrypted signing secrets. */
  secrets: string;
}

type DeliveredEvent = Pick<EventRow, "seq" | "app_id" | "request_id">;

/** Adds a delivery of each event, due at once, in their order. */
export async function insertDeliveries(trx: Trx, events: readonly DeliveredEvent[], now: number): Promise<void> {
  if (events.length === 0) return;
  const rows = events.map((event) => ({
    id: randomUUID(),
    event_seq: event.seq,
    app_id: event.app_id,
    request_id: event.request_id,
  }));
  const input = rowSet(trx, { id: "text", event_seq: "integer", app_id: "text", request_id: "text" }, rows);
  await sql`
    insert into deliveries (id, event_seq, app_id, request_id, status, tries, next_at, created_at, updated_at)
    select id, event_seq, app_id, request_id, 'pending', 0, ${AT_ONCE}, ${now}, ${now}
      from ${input} as input order by ord`.execute(trx);
  const counters = new CounterDeltas();
  for (const event of events) counters.add(counterKeys.deliveries(event.app_id), 1);
  await counters.flush(trx);
}

/** Adds a delivery of one event, due at once. */
export async function insertDelivery(trx: Trx, event: DeliveredEvent, now: number): Promise<DeliveryRow> {
  const delivery: NewDeliveryRow = {
    id: randomUUID(),
    event_seq: event.seq,
    app_id: event.app_id,
    request_id: event.request_id,
    status: "pending",
    tries: 0,
    next_at: AT_ONCE,
    response_status: null,
    error: null,
    created_at: now,
    updated_at: now,
  };
  const row = await trx.insertInto("deliveries").values(delivery).returningAll().executeTakeFirstOrThrow();
  await addToCounter(trx, counterKeys.deliveries(event.app_id), 1);
  return row;
}

/** The longest wait between two tries of a delivery, with its jitter, in milliseconds. */
export const LONGEST_DELIVERY_WAIT = 11 * 3_600_000;

/**
 * Takes due deliveries for one try. Of each request only the oldest pending delivery is taken, so that its events arrive in
 * order. The lease keeps other processes away until `leaseUntil`; if this process dies, the delivery is due again then.
 */
export async function takeDueDeliveries(
  trx: Trx,
  options: { now: number; leaseUntil: number } & Slots,
): Promise<DueDelivery[]> {
  const taken = await takeFairly(options, async ({ limit, without }) => {
    let waiting = waitingDeliveries(trx);
    if (without.length > 0) waiting = waiting.where("delivery.app_id", "not in", without);
    if (engineOf(trx) === "postgres") waiting = waiting.forUpdate("delivery").skipLocked();
    const due = await waiting.where("delivery.next_at", "<=", options.now).limit(limit).execute();
    if (due.length === limit) return due;
    // See `isDue`. Read apart from the rest: one condition for both would scan every delivery that waits for a retry.
    const beyond = waiting.where("delivery.next_at", ">", options.now + LONGEST_DELIVERY_WAIT);
    return due.concat(await beyond.limit(limit - due.length).execute());
  });
  if (taken.length === 0) return [];
  const ids = taken.map((delivery) => delivery.id);
  await trx.updateTable("deliveries").set({ next_at: options.leaseUntil }).where("id", "in", ids).execute();
  return taken.map(({ app_id: appId, ...delivery }) => ({ ...delivery, appId }));
}

/** Deliveries with tries left that no earlier event of their request holds back, longest due first. */
function waitingDeliveries(trx: Trx) {
  return trx
    .selectFrom("deliveries as delivery")
    .innerJoin("events", "events.seq", "delivery.event_seq")
    .innerJoin("webhooks", "webhooks.app_id", "delivery.app_id")
    .select([
      "delivery.id as id",
      "delivery.app_id as app_id",
      "delivery.tries as tries",
      "events.id as eventId",
      "events.body as payload",
      "webhooks.url as url",
      "webhooks.secrets as secrets",
    ])
    .where("delivery.next_at", "is not", null)
    .where("webhooks.disabled_at", "is", null)
    .where((eb) => {
      const earlier = eb
        .selectFrom("deliveries as earlier")
        .select("earlier.seq")
        .whereRef("earlier.request_id", "=", "delivery.request_id")
        .whereRef("earlier.seq", "<", "delivery.seq")
        .where("earlier.status", "=", "pending");
      return eb.not(eb.exists(earlier));
    })
    .orderBy("delivery.next_at");
}

/** The result of one try. */
export interface TryResult {
  /** HTTP status; null: there was no answer. */
  responseStatus: number | null;
  /** Why the try failed; null: it succeeded. */
  error: string | null;
  /** null: no further try. */
  nextAt: number | null;
}

export async function recordTry(trx: Trx, id: string, result: TryResult, now: number): Promise<void> {
  const status = result.error === null ? "delivered" : result.nextAt === null ? "failed" : "pending";
  await trx
    .updateTable("deliveries")
    .set((eb) => ({
      status,
      tries: eb("tries", "+", 1),
      next_at: result.nextAt,
      response_status: result.responseStatus,
      error: result.error,
      updated_at: now,
    }))
    .where("id", "=", id)
    .where("status", "=", "pending")
    .execute();
}

/** Ends all pending deliveries of an app whose webhook was disabled or deleted. */
export async function abandonDeliveries(trx: Trx, appId: string, reason: string, now: number): Promise<void> {
  await trx
    .updateTable("deliveries")
    .set({ status: "failed", next_at: null, error: reason, updated_at: now })
    .where("app_id", "=", appId)
    .where("status", "=", "pending")
    .execute();
}

/**
 * Sends an event again. A delivery that has ended gets a new one; a pending delivery becomes due at once.
 */
export async function redeliver(trx: Trx, delivery: DeliveryRow, now: number): Promise<DeliveryRow> {
  if (delivery.status !== "pending") return insertDelivery(trx, { ...delivery, seq: delivery.event_seq }, now);
  return trx
    .updateTable("deliveries")
    .set({ next_at: AT_ONCE, updated_at: now })
    .where("id", "=", delivery.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}
