import { rotateWebhookSecret as rotate } from "../../commands/rotate-webhook-secret.ts";
import { defineEndpoint } from "../endpoint.ts";
import { rotatedSecretExample } from "../examples.ts";
import { isoTime } from "../present/time.ts";
import { none, noQuery } from "../schemas/params.ts";
import { rotatedSecret } from "../schemas/webhook.ts";

export function rotateWebhookSecret() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/secret",
    summary: "Rotate the signing secret of the app's webhook",
    name: "rotateWebhookSecret",
    description:
      "The new secret is shown only once. For 24 hours each call carries two signatures, one with each secret, so that the receiver can switch at any time. At most two secrets are live: another rotation within that time ends the oldest at once.",
    examples: { answer: rotatedSecretExample },
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: rotatedSecret,
    errors: ["not_found"],
    handle: async (deps, { appId }) => {
      const { secret, previousExpiresAt } = await rotate(deps, appId);
      return { secret, previous_expires_at: isoTime(previousExpiresAt) };
    },
  });
}
