import { randomBytes } from "node:crypto";

import { Webhook } from "standardwebhooks";
import { z } from "zod";

import type { Sealer } from "./sealer.ts";

const schema = z.array(z.object({ secret: z.string(), expires_at: z.number().nullable() }));

/** Signing secrets of a webhook, newest first. `expires_at` is null for the current one. */
export type WebhookSecrets = z.infer<typeof schema>;

/** Milliseconds for which a replaced secret still signs together with the new one. */
export const SECRET_OVERLAP = 24 * 3_600_000;

/** `whsec_` and 24 random bytes in base64, the format of Standard Webhooks. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(24).toString("base64")}`;
}

/** Adds a new secret. The one that it replaces expires after the overlap; older ones are dropped, so at most two are valid. */
export function rotateSecrets(secrets: WebhookSecrets, secret: string, now: number): WebhookSecrets {
  const replaced = secrets.slice(0, 1).map((old) => ({ secret: old.secret, expires_at: now + SECRET_OVERLAP }));
  return [{ secret, expires_at: null }, ...replaced];
}

export function liveSecrets(secrets: WebhookSecrets, now: number): string[] {
  return secrets.filter((entry) => entry.expires_at === null || entry.expires_at > now).map((entry) => entry.secret);
}

/** The headers by which a receiver verifies an event, as Standard Webhooks defines them. */
export function signatureHeaders(
  secrets: readonly string[],
  { id, at, payload }: { id: string; at: Date; payload: string },
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": Math.floor(at.getTime() / 1_000).toString(),
    "webhook-signature": secrets.map((secret) => new Webhook(secret).sign(id, at, payload)).join(" "),
  };
}

export function sealSecrets(sealer: Sealer, secrets: WebhookSecrets): Promise<string> {
  return sealer.seal(JSON.stringify(secrets));
}

export async function openSecrets(sealer: Sealer, sealed: string): Promise<WebhookSecrets> {
  return schema.parse(JSON.parse(await sealer.open(sealed)));
}
