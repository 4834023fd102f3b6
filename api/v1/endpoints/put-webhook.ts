import { registerWebhook } from "../../commands/register-webhook.ts";
import type { Limits } from "../../config/limits.ts";
import { defineEndpoint } from "../endpoint.ts";
import { webhookExample } from "../examples.ts";
import { presentWebhook } from "../present/webhook.ts";
import { none, noQuery } from "../schemas/params.ts";
import { registeredWebhook, webhookBody } from "../schemas/webhook.ts";

export function putWebhook(limits: Limits) {
  return defineEndpoint({
    method: "put",
    path: "/webhook",
    summary: "Register or change the app's webhook",
    name: "putWebhook",
    description:
      "Calls are signed as in Standard Webhooks. The answer to the first registration has the signing secret. The URL must resolve to public addresses.",
    examples: {
      bodies: {
        "All events": { url: "https://app.example/hooks/nft" },
        "Outcomes only": { url: "https://app.example/hooks/nft", events: ["completed", "error"] },
      },
      answer: { ...webhookExample, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
    },
    scope: "webhooks",
    params: none,
    query: noQuery,
    body: webhookBody(limits),
    response: registeredWebhook,
    handle: async (deps, { appId, body }) => {
      const { webhook, secret } = await registerWebhook(deps, appId, body.url, body.events ?? null);
      return { ...presentWebhook(webhook), secret };
    },
  });
}
