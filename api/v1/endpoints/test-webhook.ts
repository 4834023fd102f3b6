import { sendTestEvent } from "../../commands/send-webhook.ts";
import { defineEndpoint } from "../endpoint.ts";
import { testDeliveryExample } from "../examples.ts";
import { presentDelivery } from "../present/webhook.ts";
import { none, noQuery } from "../schemas/params.ts";
import { delivery } from "../schemas/webhook.ts";

export function testWebhook() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/test",
    summary: "Send a test event to the app's webhook",
    name: "testWebhook",
    description:
      "The event has the type `test` and no request. It is sent whichever event types the webhook has chosen. Like every event it is signed, retried and listed among the deliveries, but it is not in the event feed. The call fails with `validation_failed` when the webhook is disabled.",
    examples: { answer: testDeliveryExample },
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId }) => presentDelivery(await sendTestEvent(deps, appId)),
  });
}
