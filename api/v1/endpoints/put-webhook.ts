import { registerWebhook } from "../../commands/register-webhook.ts";
import type { Limits } from "../../config/limits.ts";
import { defineEndpoint } from "../endpoint.ts";
import { presentWebhook } from "../present/webhook.ts";
import { none, noQuery } from "../schemas/params.ts";
import { registeredWebhook, webhookBody } from "../schemas/webhook.ts";

export function putWebhook(limits: Limits) {
  return defineEndpoint({
    method: "put",
    path: "/webhook",
    summary: "Register the app's webhook, or change it",
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
