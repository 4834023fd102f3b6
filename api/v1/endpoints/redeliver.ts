import { redeliverEvent } from "../../commands/send-webhook.ts";
import { defineEndpoint } from "../endpoint.ts";
import { presentDelivery } from "../present/webhook.ts";
import { deliveryParams, noQuery } from "../schemas/params.ts";
import { delivery } from "../schemas/webhook.ts";

export function redeliver() {
  return defineEndpoint({
    method: "post",
    path: "/webhook/deliveries/:id/redeliver",
    summary: "Send what a delivery carried once more, at once",
    scope: "webhooks",
    params: deliveryParams,
    query: noQuery,
    response: delivery,
    errors: ["not_found"],
    handle: async (deps, { appId, params }) => presentDelivery(await redeliverEvent(deps, appId, params.id)),
  });
}
