import { redeliverEvent } from "../../commands/send-webhook.ts";
import { defineEndpoint } from "../endpoint.ts";
import { deliveryExample } from "../examples.ts";
import { presentDelivery } from "../present/webhook.ts";
import { deliveryParams, noQuery } from "../schemas/params.ts";
import { delivery } from "../schemas/webhook.ts";

export function redeliver() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/deliveries/:id/redeliver",
    summary: "Send the event of a delivery again, at once",
    name: "redeliver",
    description:
      "The receiver gets the same event with the same `webhook-id`. If the delivery has ended, the answer is a new delivery. If it waits for a retry, the retry happens now. The call fails with `validation_failed` when the webhook is disabled.",
    examples: { answer: deliveryExample },
    scope: "webhooks",
    params: deliveryParams,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId, params }) => presentDelivery(await redeliverEvent(deps, appId, params.id)),
  });
}
