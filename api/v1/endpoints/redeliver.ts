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
    summary: "Send what a delivery carried once more, at once",
    name: "redeliver",
    description:
      "The receiver sees the same event under the same `webhook-id`. A delivery that is over is followed by a new one, which is the answer; one that waits for its next try has it now. A disabled webhook is refused (`validation_failed`).",
    examples: { answer: deliveryExample },
    scope: "webhooks",
    params: deliveryParams,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId, params }) => presentDelivery(await redeliverEvent(deps, appId, params.id)),
  });
}
