import { ApiError } from "../domain/error-codes.ts";
import type { RequestEvent } from "../domain/event.ts";
import type { Sealer } from "../keys/sealer.ts";
import { newWebhookSecret, sealSecrets } from "../keys/webhook-secrets.ts";
import { type AddressPolicy, isForbiddenUrl } from "../outbound/addresses.ts";
import type { Database } from "../store/db/database.ts";
import { insertWebhook, type StoredWebhook, updateWebhook } from "../store/outbox/webhooks.ts";

export interface RegisterWebhookDeps {
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
  events: RequestEvent[] | null,
): Promise<{ webhook: StoredWebhook; secret: string | null }> {
  if (isForbiddenUrl(new URL(url), deps.addressPolicy)) {
    const message = "Must resolve to public addresses only.";
    throw new ApiError("validation_failed", [{ field: "url", code: "private_address", message }]);
  }
  const secret = newWebhookSecret();
  const sealed = await sealSecrets(deps.sealer, appId, [{ secret, expires_at: null }]);
  return deps.database.write(async (trx) => {
    const now = Date.now();
    const wanted = events === null ? null : [...new Set(events)];
    const created: StoredWebhook = {
      app_id: appId,
      url,
      secrets: sealed,
      events: wanted,
      disabled_at: null,
      created_at: now,
      updated_at: now,
    };
    for (;;) {
      if (await insertWebhook(trx, created)) return { webhook: created, secret };
      const webhook = await updateWebhook(trx, appId, { url, events: wanted, now });
      // Otherwise it was removed between the two statements.
      if (webhook !== undefined) return { webhook, secret: null };
    }
  });
}
