import { ApiError } from "../domain/error-codes.ts";
import type { Database } from "../store/db/database.ts";
import { redeliver } from "../store/outbox/deliveries.ts";
import { findDelivery, type LoggedDelivery } from "../store/outbox/delivery-log.ts";
import type { Trx } from "../store/db/engine.ts";
import { enqueueTestEvent, holdEvent } from "../store/outbox/events.ts";
import type { DeliveryRow } from "../store/db/schema.ts";
import { holdWebhook } from "../store/outbox/webhooks.ts";

export interface SendWebhookDeps {
  database: Database;
  /** Notified when a delivery is due. */
  signals: { deliveries: { notify(): void } };
}

const GONE =
  "There is no such delivery, or it belongs to another app, or it was delivered so long ago that its record was deleted. GET /v1/events has every event.";

/**
 * Sends a test event to the app's webhook. Like any delivery it is signed, retried and logged.
 * @throws ApiError `not_found` when the app has no webhook, `validation_failed` when it is disabled.
 */
export function sendTestEvent(deps: SendWebhookDeps, appId: string): Promise<LoggedDelivery> {
  return send(deps, async (trx) => {
    await requireEnabled(trx, appId);
    return enqueueTestEvent(trx, appId, Date.now());
  });
}

/**
 * Sends the event of a delivery again, with the same event id.
 * @param appId null: the delivery of any app (for the operator).
 * @throws ApiError `not_found` when there is no such delivery or no webhook, `validation_failed` when it is disabled.
 */
export function redeliverEvent(deps: SendWebhookDeps, appId: string | null, id: string): Promise<LoggedDelivery> {
  return send(deps, async (trx) => {
    const delivery = await findDelivery(trx, appId, id);
    if (delivery === undefined) throw new ApiError("not_found", null, { message: GONE });
    await requireEnabled(trx, delivery.app_id);
    if (!(await holdEvent(trx, delivery.event_seq))) throw new ApiError("not_found", null, { message: GONE });
    return redeliver(trx, delivery, Date.now());
  });
}

async function send(deps: SendWebhookDeps, enqueue: (trx: Trx) => Promise<DeliveryRow>): Promise<LoggedDelivery> {
  const delivery = await deps.database.write(async (trx) => {
    const { app_id: appId, id } = await enqueue(trx);
    return findDelivery(trx, appId, id);
  });
  if (delivery === undefined) throw new Error("the delivery was not found after it was stored");
  deps.signals.deliveries.notify();
  return delivery;
}

async function requireEnabled(trx: Trx, appId: string): Promise<void> {
  const webhook = await holdWebhook(trx, appId);
  if (webhook === undefined) throw new ApiError("not_found");
  if (webhook.disabled_at === null) return;
  const message = "The webhook is disabled. Register its URL again with PUT /v1/webhook.";
  throw new ApiError("validation_failed", [{ field: "webhook", code: "disabled", message }]);
}
