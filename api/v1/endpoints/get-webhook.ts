import { findWebhook } from "../../store/outbox/webhooks.ts";
import { defineEndpoint } from "../endpoint.ts";
import { webhookExample } from "../examples.ts";
import { found } from "../present/not-found.ts";
import { presentWebhook } from "../present/webhook.ts";
import { none, noQuery } from "../schemas/params.ts";
import { webhook } from "../schemas/webhook.ts";

export function getWebhook() {
  return defineEndpoint({
    method: "get",
    path: "/webhook",
    summary: "Show the app's webhook",
    name: "getWebhook",
    examples: { answer: webhookExample },
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: webhook,
    errors: ["not_found"],
    handle: async ({ database }, { appId }) => presentWebhook(found(await findWebhook(database.read, appId))),
  });
}
