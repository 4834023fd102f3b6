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
    summary: "Replace the signing secret of the app's webhook; the old one signs beside it for 24 hours",
    name: "rotateWebhookSecret",
    description:
      "The new secret is shown this once. For 24 hours each call carries two signatures, one with either secret, so that the receiver can change over in its own time; a further rotation meanwhile ends the oldest at once, because no more than two are live.",
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
