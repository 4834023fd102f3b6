import { MAX_WEBHOOKS } from "../config/limits.ts";
import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";
import { newWebhookSecret, openSecrets, rotateSecrets, sealSecrets, SECRET_OVERLAP } from "../keys/webhook-secrets.ts";
import { type AddressPolicy, HOW_TO_ALLOW, isForbiddenUrl } from "../outbound/addresses.ts";
import { orderedUuid } from "../shared/ids.ts";
import type { Database } from "../store/db/database.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import type { DeliveryRow, WebhookKey } from "../store/db/schema.ts";
import type { Trx } from "../store/db/sql.ts";
import { findDelivery, type LoggedDelivery, redeliver, redeliverFailed } from "../store/outbox/deliveries.ts";
import { enqueueTestEvent, holdEvent } from "../store/outbox/events.ts";
import {
  countWebhooks,
  findWebhook,
  holdWebhook,
  insertWebhook,
  type ListedWebhook,
  replaceSecrets,
  type StoredWebhook,
  updateWebhook,
  type WebhookChange,
} from "../store/outbox/webhooks.ts";

interface SendWebhookDeps {
  database: Database;
  /** Notified when a delivery is due. */
  signals: { deliveries: { notify(): void } };
}

const GONE =
  "There is no such delivery, or it belongs to another app, or it was delivered so long ago that its record was deleted. GET /v1/events has every event.";

/**
 * Sends a test event to a webhook. Like any delivery it is signed, retried and logged.
 * @throws ApiError `not_found` when the app has no such webhook, `validation_failed` when it is disabled.
 */
export function sendTestEvent(deps: SendWebhookDeps, webhook: WebhookKey): Promise<LoggedDelivery> {
  return send(deps, async (trx) => {
    await requireEnabled(trx, webhook);
    return enqueueTestEvent(trx, webhook, Date.now());
  });
}

/**
 * Sends the event of a delivery again to the same webhook, with the same event id.
 * @param appId null: the delivery of any app (for the operator).
 * @throws ApiError `not_found` when there is no such delivery or no webhook, `validation_failed` when it is disabled.
 */
export function redeliverEvent(deps: SendWebhookDeps, appId: string | null, id: string): Promise<LoggedDelivery> {
  return send(deps, async (trx) => {
    const delivery = await findDelivery(trx, appId, id);
    if (delivery === undefined) throw new ApiError("not_found", null, { message: GONE });
    await requireEnabled(trx, { id: delivery.webhook_id, app_id: delivery.app_id });
    if (!(await holdEvent(trx, delivery.event_seq))) throw new ApiError("not_found", null, { message: GONE });
    return redeliver(trx, delivery, Date.now());
  });
}

/**
 * Sends the events of a webhook's failed deliveries again, so many as one transaction may.
 * @throws ApiError `not_found` when the app has no such webhook, `validation_failed` when it is disabled.
 */
export async function redeliverFailedEvents(
  deps: SendWebhookDeps,
  webhook: WebhookKey,
): Promise<{ redelivered: number; more: boolean }> {
  const done = await deps.database.write(async (trx) => {
    await requireEnabled(trx, webhook);
    return redeliverFailed(trx, webhook.id, Date.now());
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

async function requireEnabled(trx: Trx, key: WebhookKey): Promise<void> {
  const webhook = await holdWebhook(trx, key);
  if (webhook === undefined) throw new ApiError("not_found");
  if (webhook.disabled_at === null) return;
  const how = key.id === key.app_id ? "PUT /v1/webhook" : `PATCH /v1/webhooks/${key.id}`;
  const message = `The webhook is disabled. Register its URL again with ${how}.`;
  throw new ApiError("validation_failed", [{ field: "webhook", code: "disabled", message }]);
}

interface RegisterWebhookDeps {
  database: Database;
  sealer: Sealer;
  addressPolicy: AddressPolicy;
}

type NewWebhook = Pick<StoredWebhook, "url" | "events" | "collections" | "description">;

/**
 * Registers the app's first webhook, or changes the existing one and keeps its secret. A URL with a forbidden literal address is
 * rejected here; a host name is checked at each delivery.
 * @param events types to send; null: the default ones.
 * @returns the secret only when it is new. It cannot be read again.
 * @throws ApiError `validation_failed`; `too_many_webhooks` when it is new and the app has enough others.
 */
export async function registerWebhook(
  deps: RegisterWebhookDeps,
  appId: string,
  url: string,
  events: StoredWebhook["events"],
): Promise<{ webhook: ListedWebhook; secret: string | null }> {
  const change = checked(deps, { url, events });
  const key = { id: appId, app_id: appId };
  const { webhook, secret } = await newWebhook(deps, key, { ...change, collections: null, description: null });
  const stored = await deps.database.write(async (trx) => {
    const update = () => updateWebhook(trx, key, change, Date.now());
    if (!(await update())) {
      const count = await countWebhooks(trx, appId);
      // Another call may have registered it before this one had the lock.
      if (!(await update())) await insert(trx, webhook, count);
    }
    return findWebhook(trx, key);
  });
  if (stored === undefined) throw new Error("the webhook was not found after it was stored");
  return { webhook: stored, secret: stored.secrets === webhook.secrets ? secret : null };
}

/**
 * Creates a further webhook.
 * @returns the secret with it, which cannot be read again.
 * @throws ApiError `validation_failed`; `too_many_webhooks` when the app has as many as it may.
 */
export async function createWebhook(
  deps: RegisterWebhookDeps,
  appId: string,
  fields: NewWebhook,
): Promise<{ webhook: ListedWebhook; secret: string }> {
  const key = { id: orderedUuid(), app_id: appId };
  const { webhook, secret } = await newWebhook(deps, key, checked(deps, fields));
  await deps.database.write(async (trx) => insert(trx, webhook, await countWebhooks(trx, appId)));
  return { webhook: { ...webhook, lastError: null }, secret };
}

/**
 * Changes some fields of a webhook. A URL enables it.
 * @throws ApiError `validation_failed`; `not_found` when the app has no such webhook.
 */
export async function changeWebhook(
  deps: Pick<RegisterWebhookDeps, "database" | "addressPolicy">,
  key: WebhookKey,
  change: WebhookChange,
): Promise<ListedWebhook> {
  const accepted = checked(deps, change);
  const webhook = await deps.database.write(async (trx) => {
    await updateWebhook(trx, key, accepted, Date.now());
    return findWebhook(trx, key);
  });
  if (webhook === undefined) throw new ApiError("not_found");
  return webhook;
}

/** @returns the fields, with each entry of a list once. @throws ApiError */
function checked<F extends WebhookChange>({ addressPolicy }: Pick<RegisterWebhookDeps, "addressPolicy">, fields: F): F {
  if (fields.url !== undefined && isForbiddenUrl(new URL(fields.url), addressPolicy)) {
    const message = `The address is not public, and the service calls public addresses only. ${HOW_TO_ALLOW}`;
    throw new ApiError("validation_failed", [{ field: "url", code: "private_address", message }]);
  }
  const { events, collections } = fields;
  return {
    ...fields,
    ...(events == null ? {} : { events: [...new Set(events)] }),
    ...(collections == null ? {} : { collections: [...new Set(collections)] }),
  };
}

async function newWebhook({ sealer }: RegisterWebhookDeps, key: WebhookKey, fields: NewWebhook) {
  const secret = newWebhookSecret();
  const secrets = await sealSecrets(sealer, key.id, [{ secret, expires_at: null }]);
  const now = Date.now();
  const webhook = { ...key, ...fields, secrets, disabled_at: null, created_at: now, updated_at: now };
  return { webhook, secret };
}

/** @param count webhooks that the app has. @throws ApiError */
async function insert(trx: Trx, webhook: StoredWebhook, count: number): Promise<void> {
  if (count >= MAX_WEBHOOKS) throw new ApiError("too_many_webhooks");
  await insertWebhook(trx, webhook);
}

/**
 * Creates a new signing secret for a webhook. For a while the replaced one signs too.
 * @returns the secret, which cannot be read again, and when the replaced one expires (milliseconds).
 * @throws ApiError `not_found` when the app has no such webhook.
 */
export async function rotateWebhookSecret(
  deps: { database: Database; sealer: Sealer },
  key: WebhookKey,
): Promise<{ secret: string; previousExpiresAt: number }> {
  const secret = newWebhookSecret();
  for (;;) {
    const webhook = await findWebhook(deps.database.read, key);
    if (webhook === undefined) throw new ApiError("not_found");
    const now = Date.now();
    const acceptsUnbound = () => acceptsUnboundValues(deps.database.read);
    const sealed = { webhookId: key.id, sealed: webhook.secrets };
    const secrets = await openSecrets(deps.sealer, sealed, acceptsUnbound);
    const to = await sealSecrets(deps.sealer, key.id, rotateSecrets(secrets, secret, now));
    // Of concurrent rotations only one replaces the secrets that it read. The others retry, so no caller gets a secret that
    // was not stored.
    const replaced = await deps.database.write((trx) =>
      replaceSecrets(trx, key.id, { from: webhook.secrets, to, now }),
    );
    if (replaced) return { secret, previousExpiresAt: now + SECRET_OVERLAP };
  }
}
