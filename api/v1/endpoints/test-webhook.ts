import { sendTestEvent } from "../../commands/send-webhook.ts";
import { defineEndpoint } from "../endpoint.ts";
import { presentDelivery } from "../present/webhook.ts";
import { none, noQuery } from "../schemas/params.ts";
import { delivery } from "../schemas/webhook.ts";

export function testWebhook() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/test",
    summary: "Send a test event to the app's webhook, whichever events it takes",
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId }) => presentDelivery(await sendTestEvent(deps, appId)),
  });
}
