import { listDeliveries as list } from "../../store/outbox/delivery-log.ts";
import { defineEndpoint } from "../endpoint.ts";
import { deliveryExample, pageExample } from "../examples.ts";
import { presentDelivery } from "../present/webhook.ts";
import { pageAnswer, pageQuery, readPage } from "../schemas/pages.ts";
import { none } from "../schemas/params.ts";
import { deliveriesPage } from "../schemas/webhook.ts";

export function listDeliveries() {
  return defineEndpoint({
    method: "get",
    path: "/webhook/deliveries",
    summary: "List webhook deliveries, newest first",
    name: "listDeliveries",
    examples: { answer: { deliveries: [deliveryExample], ...pageExample } },
    scope: "webhooks",
    params: none,
    query: pageQuery,
    response: deliveriesPage,
    handle: async ({ database }, { appId, query }) => {
      const page = await list(database.read, appId, readPage(query, "deliveries"));
      return pageAnswer(page, "deliveries", "deliveries", page.items.map(presentDelivery));
    },
  });
}
