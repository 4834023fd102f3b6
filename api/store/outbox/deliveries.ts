import { randomUUID } from "node:crypto";

import { AT_ONCE } from "../db/due.ts";
import { addToCounter, counterKeys } from "../db/counters.ts";
import { engineOf, type Trx } from "../db/engine.ts";
import type { DeliveryRow, EventRow, NewDeliveryRow } from "../db/schema.ts";

/** A delivery that is due, with everything that sending it takes. */
export interface DueDelivery {
  id: string;
  appId: string;
  eventId: string;
  /** The event's body as it was stored. It is sent and signed byte for byte, so nobody parses it on the way. */
  payload: string;
  tries: number;
  url: string;
  /** Sealed signing secrets. */
  secrets: string;
}

/** Adds a delivery of an event, due at once. */
export async function insertDelivery(
  trx: Trx,
  event: Pick<EventRow, "seq" | "app_id" | "request_id">,
  now: number,
): Promise<DeliveryRow> {
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

/**
 * Takes due deliveries for one try. Of one request only the oldest that is not delivered yet, so that its events arrive
 * in order. Until `leaseUntil` nobody else takes them; after that, a process that died in between is made up for.
 * @param options.underWay app of each delivery that is under way; no app gets more than `limitOfApp` with them.
 */
export async function takeDueDeliveries(
  trx: Trx,
  options: { now: number; leaseUntil: number; limit: number; limitOfApp: number; underWay: string[] },
): Promise<DueDelivery[]> {
  let due = trx
    .selectFrom("deliveries as delivery")
    .innerJoin("events", "events.seq", "delivery.event_seq")
    .innerJoin("webhooks", "webhooks.app_id", "delivery.app_id")
    .select([
      "delivery.id as id",
      "delivery.app_id as appId",
      "delivery.tries as tries",
      "events.id as eventId",
      "events.body as payload",
      "webhooks.url as url",
      "webhooks.secrets as secrets",
    ])
    .where("delivery.next_at", "is not", null)
    .where("delivery.next_at", "<=", options.now)
    .where("webhooks.disabled_at", "is", null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("deliveries as earlier")
            .select("earlier.seq")
            .whereRef("earlier.request_id", "=", "delivery.request_id")
            .whereRef("earlier.seq", "<", "delivery.seq")
            .where("earlier.status", "=", "pending"),
        ),
      ),
    )
    .orderBy("delivery.next_at")
    .limit(options.limit);
  if (engineOf(trx) === "postgres") due = due.forUpdate("delivery").skipLocked();
  const share = new Map<string, number>();
  for (const app of options.underWay) share.set(app, (share.get(app) ?? 0) + 1);
  const busy = [...share].filter(([, count]) => count >= options.limitOfApp).map(([app]) => app);
  if (busy.length > 0) due = due.where("delivery.app_id", "not in", busy);
  const taken = (await due.execute()).filter(({ appId }) => {
    const count = (share.get(appId) ?? 0) + 1;
    if (count > options.limitOfApp) return false;
    share.set(appId, count);
    return true;
  });
  if (taken.length === 0) return [];
  await trx
    .updateTable("deliveries")
    .set({ next_at: options.leaseUntil })
    .where(
      "id",
      "in",
      taken.map((delivery) => delivery.id),
    )
    .execute();
  return taken;
}

/** What came of one try. */
export interface TryResult {
  /** HTTP status, or null when there was no answer. */
  responseStatus: number | null;
  /** Why there was no success, in words; null on success. */
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

/** Ends what is still to be sent to an app's webhook, which is not there to take it any more. */
export async function abandonDeliveries(trx: Trx, appId: string, reason: string, now: number): Promise<void> {
  await trx
    .updateTable("deliveries")
    .set({ status: "failed", next_at: null, error: reason, updated_at: now })
    .where("app_id", "=", appId)
    .where("status", "=", "pending")
    .execute();
}

/**
 * Sends an event once more: a delivery that is over is followed by a new one; one that waits for its next try has it now.
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
