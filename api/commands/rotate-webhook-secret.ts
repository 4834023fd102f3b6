import { ApiError } from "../domain/error-codes.ts";
import type { Sealer } from "../keys/sealer.ts";
import { newWebhookSecret, openSecrets, rotateSecrets, SECRET_OVERLAP, sealSecrets } from "../keys/webhook-secrets.ts";
import type { Database } from "../store/db/database.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import { findWebhook, replaceSecrets } from "../store/outbox/webhooks.ts";

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
