import { ApiError } from "../domain/error-codes.ts";
import type { DefaultEvent } from "../domain/events.ts";
import type { Sealer } from "../keys/sealer.ts";
import { newWebhookSecret, openSecrets, rotateSecrets, sealSecrets, SECRET_OVERLAP } from "../keys/webhook-secrets.ts";
import { type AddressPolicy, HOW_TO_ALLOW, isForbiddenUrl } from "../outbound/addresses.ts";
import type { Database } from "../store/db/database.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import type { DeliveryRow } from "../store/db/schema.ts";
import type { Trx } from "../store/db/sql.ts";
import { findDelivery, type LoggedDelivery, redeliver, redeliverFailed } from "../store/outbox/deliveries.ts";
import { enqueueTestEvent, holdEvent } from "../store/outbox/events.ts";
import { findWebhook, holdWebhook, replaceSecrets, setWebhook, type StoredWebhook } from "../store/outbox/webhooks.ts";

interface SendWebhookDeps {
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

/**
 * Sends the events of failed deliveries again, so many as one transaction may.
 * @throws ApiError `not_found` when the app has no webhook, `validation_failed` when it is disabled.
 */
export async function redeliverFailedEvents(
  deps: SendWebhookDeps,
  appId: string,
): Promise<{ redelivered: number; more: boolean }> {
  const done = await deps.database.write(async (trx) => {
    await requireEnabled(trx, appId);
    return redeliverFailed(trx, appId, Date.now());
  });
  if (done.redelivered > 0) deps.signals.deliveries.notify();
  return done;
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

interface RegisterWebhookDeps {
  database: Database;
  sealer: Sealer;
  addressPolicy: AddressPolicy;
}

/**
 * Registers the app's webhook, or changes the existing one and keeps its secret. A URL with a forbidden literal address is
 * rejected here; a host name is checked at each delivery.
 * @param events types to send; null: all.
 * @returns the secret only when it is new. It cannot be read again.
 */
export async function registerWebhook(
  deps: RegisterWebhookDeps,
  appId: string,
  url: string,
  events: DefaultEvent[] | null,
): Promise<{ webhook: StoredWebhook; secret: string | null }> {
  if (isForbiddenUrl(new URL(url), deps.addressPolicy)) {
    const message = `The address is not public, and the service calls public addresses only. ${HOW_TO_ALLOW}`;
    throw new ApiError("validation_failed", [{ field: "url", code: "private_address", message }]);
  }
  const secret = newWebhookSecret();
  const sealed = await sealSecrets(deps.sealer, appId, [{ secret, expires_at: null }]);
  const webhook = await deps.database.write((trx) => {
    const now = Date.now();
    const wanted = events === null ? null : [...new Set(events)];
    const times = { disabled_at: null, created_at: now, updated_at: now };
    return setWebhook(trx, { app_id: appId, url, secrets: sealed, events: wanted, ...times });
  });
  return { webhook, secret: webhook.secrets === sealed ? secret : null };
}

/**
 * Creates a new signing secret for the app's webhook. For a while the replaced one signs too.
 * @returns the secret, which cannot be read again, and when the replaced one expires (milliseconds).
 * @throws ApiError `not_found` when the app has no webhook.
 */
export async function rotateWebhookSecret(
  deps: { database: Database; sealer: Sealer },
  appId: string,
): Promise<{ secret: string; previousExpiresAt: number }> {
  const secret = newWebhookSecret();
  for (;;) {
    const webhook = await findWebhook(deps.database.read, appId);
    if (webhook === undefined) throw new ApiError("not_found");
    const now = Date.now();
    const acceptsUnbound = () => acceptsUnboundValues(deps.database.read);
    const secrets = await openSecrets(deps.sealer, { appId, sealed: webhook.secrets }, acceptsUnbound);
    const to = await sealSecrets(deps.sealer, appId, rotateSecrets(secrets, secret, now));
    // Of concurrent rotations only one replaces the secrets that it read. The others retry, so no caller gets a secret that
    // was not stored.
    const replaced = await deps.database.write((trx) => replaceSecrets(trx, appId, { from: webhook.secrets, to, now }));
    if (replaced) return { secret, previousExpiresAt: now + SECRET_OVERLAP };
  }
}
