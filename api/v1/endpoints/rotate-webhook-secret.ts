import { rotateWebhookSecret as rotate } from "../../commands/rotate-webhook-secret.ts";
import { defineEndpoint } from "../endpoint.ts";
import { isoTime } from "../present/time.ts";
import { none, noQuery } from "../schemas/params.ts";
import { rotatedSecret } from "../schemas/webhook.ts";

export function rotateWebhookSecret() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/secret",
    summary: "Replace the signing secret of the app's webhook; the old one signs beside it for 24 hours",
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
