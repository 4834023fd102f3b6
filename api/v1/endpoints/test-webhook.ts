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
    summary: "Send a test event to the app's webhook, whichever events it takes",
    name: "testWebhook",
    description:
      "The event has the type `test` and no request. It takes the way of every other: signed, tried again, in the log of deliveries; it is not in the feed of events. A disabled webhook is refused (`validation_failed`).",
    examples: { answer: testDeliveryExample },
    scope: "webhooks",
    params: none,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId }) => presentDelivery(await sendTestEvent(deps, appId)),
  });
}
