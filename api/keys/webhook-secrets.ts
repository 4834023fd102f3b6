import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";

import { z } from "zod";

import { type Sealer, sealedPlace } from "./sealer.ts";

const schema = z.array(z.object({ secret: z.string(), expires_at: z.number().nullable() }));

/** Signing secrets of a webhook, newest first. `expires_at` is null for the current one. */
type WebhookSecrets = z.infer<typeof schema>;

/** Milliseconds for which a replaced secret still signs together with the new one. */
export const SECRET_OVERLAP = 24 * 3_600_000;

const PREFIX = "whsec_";

/** `whsec_` and 24 random bytes in base64, the format of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(24).toString("base64")}`;
}

/** Adds a new secret. The one that it replaces expires after the overlap; older ones are dropped, so at most two are valid. */
export function rotateSecrets(secrets: WebhookSecrets, secret: string, now: number): WebhookSecrets {
  const replaced = secrets.slice(0, 1).map((old) => ({ secret: old.secret, expires_at: now + SECRET_OVERLAP }));
  return [{ secret, expires_at: null }, ...replaced];
}

/** A secret as the key that signs. A prepared key signs several times as fast as its bytes. */
export interface SigningKey {
  key: KeyObject;
  /** null: the current one. */
  expiresAt: number | null;
}

export function signingKey({ secret, expires_at: expiresAt }: WebhookSecrets[number]): SigningKey {
  const encoded = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret;
  return { key: createSecretKey(encoded, "base64"), expiresAt };
}

/**
 * The headers by which a receiver verifies an event, as Standard Webhooks defines them.
 * @param keys those that have expired do not sign.
 */
export function signatureHeaders(
  keys: readonly SigningKey[],
  { id, at, payload }: { id: string; at: number; payload: string },
): Record<string, string> {
  const timestamp = Math.floor(at / 1_000).toString();
  const signed = `${id}.${timestamp}.${payload}`;
  const signatures = keys
    .filter(({ expiresAt }) => expiresAt === null || expiresAt > at)
    .map(({ key }) => `v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

export function sealSecrets(sealer: Sealer, webhookId: string, secrets: WebhookSecrets): Promise<string> {
  return sealer.seal(JSON.stringify(secrets), sealedPlace("webhook", webhookId));
}

/** @param acceptsUnbound see `Sealer.open`. @throws SealError */
export async function openSecrets(
  sealer: Sealer,
  { webhookId, sealed }: { webhookId: string; sealed: string },
  acceptsUnbound: () => Promise<boolean>,
): Promise<WebhookSecrets> {
  return schema.parse(JSON.parse(await sealer.open(sealed, sealedPlace("webhook", webhookId), acceptsUnbound)));
}
