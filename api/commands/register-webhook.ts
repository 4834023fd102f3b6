import { randomBytes } from "node:crypto";

import type { Sealer } from "../keys/sealer.ts";
import type { Database } from "../store/database.ts";
import type { EventRow, WebhookRow } from "../store/schema.ts";
import { findWebhook, insertWebhook, updateWebhook } from "../store/webhooks.ts";

/** One of the secrets that a webhook is signed with, as it is sealed into the row. */
export interface WebhookSecret {
  /** `whsec_` and 24 random bytes in base64. */
  secret: string;
  /** Milliseconds; null: until it is replaced. */
  expires_at: number | null;
}

export interface RegisterWebhookDeps {
  database: Database;
  sealer: Sealer;
}

/**
 * Registers the app's webhook, or changes the one it has, whose secret then stays.
 * @param events types to send; null: all.
 * @returns the secret only where it is new: it cannot be read again.
 */
export async function registerWebhook(
  deps: RegisterWebhookDeps,
  appId: string,
  url: string,
  events: EventRow["type"][] | null,
): Promise<{ webhook: WebhookRow; secret: string | null }> {
  const secret = `whsec_${randomBytes(24).toString("base64")}`;
  const secrets: WebhookSecret[] = [{ secret, expires_at: null }];
  const sealed = await deps.sealer.seal(JSON.stringify(secrets));
  return deps.database.write(async (trx) => {
    const now = Date.now();
    const wanted = events === null ? null : JSON.stringify([...new Set(events)]);
    const created: WebhookRow = {
      app_id: appId,
      url,
      secrets: sealed,
      events: wanted,
      disabled_at: null,
      created_at: now,
      updated_at: now,
    };
    if (await insertWebhook(trx, created)) return { webhook: created, secret };
    await updateWebhook(trx, appId, { url, events: wanted, now });
    return { webhook: (await findWebhook(trx, appId)) ?? created, secret: null };
  });
}
