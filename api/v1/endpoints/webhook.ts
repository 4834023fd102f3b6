import {
  redeliverEvent,
  redeliverFailedEvents,
  registerWebhook,
  rotateWebhookSecret as rotate,
  sendTestEvent,
} from "../../commands/webhooks.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { findDelivery, listDeliveries as list, payloadOf } from "../../store/outbox/deliveries.ts";
import type { WebhookKey } from "../../store/db/schema.ts";
import { deleteWebhook as remove, findWebhook } from "../../store/outbox/webhooks.ts";
import { defineEndpoint } from "../endpoint.ts";
import {
  deliveryExample,
  eventExample,
  pageExample,
  rotatedSecretExample,
  testDeliveryExample,
  webhookExample,
} from "../examples.ts";
import { found, isoTime, presentDelivery, presentWebhook } from "../present.ts";
import { longPageQuery, pageAnswer, readPage } from "../schemas/pages.ts";
import { deliveryParams } from "../schemas/params.ts";
import {
  deliveriesPage,
  delivery,
  deliveryWithPayload,
  redeliveredEvents,
  registeredWebhook,
  removedWebhook,
  rotatedSecret,
  webhook,
  webhookBody,
} from "../schemas/webhook.ts";

/** The webhook of these calls. Further ones are in `webhooks.ts`. */
function firstOf(appId: string): WebhookKey {
  return { id: appId, app_id: appId };
}

const putWebhook = defineEndpoint({
  method: "put",
  path: "/webhook",
  summary: "Register or change the app's first webhook",
  name: "putWebhook",
  description:
    "Further webhooks are made with `POST /v1/webhooks`. Calls are signed as in Standard Webhooks. The answer to the first registration has the signing secret. The URL must not lead to a private address: that is checked now, if the name is known, and at each delivery.",
  examples: {
    bodies: {
      "Results of requests": { url: "https://app.example/hooks/nft" },
      "Outcomes only": { url: "https://app.example/hooks/nft", events: ["completed", "error"] },
    },
    answer: { ...webhookExample, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
  },
  scope: "webhooks",
  body: webhookBody,
  response: registeredWebhook,
  errors: ["too_many_webhooks"],
  handle: async (deps, { appId, body }) => {
    const { webhook, secret } = await registerWebhook(deps, appId, body.url, body.events ?? null);
    return { ...presentWebhook(webhook), secret };
  },
});

const getWebhook = defineEndpoint({
  method: "get",
  path: "/webhook",
  summary: "Show the app's first webhook",
  name: "getWebhook",
  examples: { answer: webhookExample },
  scope: "webhooks",
  response: webhook,
  errors: ["not_found"],
  handle: async ({ database }, { appId }) => presentWebhook(found(await findWebhook(database.read, firstOf(appId)))),
});

const deleteWebhook = defineEndpoint({
  method: "delete",
  path: "/webhook",
  summary: "Remove the app's first webhook",
  name: "deleteWebhook",
  examples: { answer: {} },
  scope: "webhooks",
  response: removedWebhook,
  errors: ["not_found"],
  handle: async ({ database }, { appId }) => {
    if (!(await database.write((trx) => remove(trx, firstOf(appId), Date.now())))) throw new ApiError("not_found");
    return {};
  },
});

const testWebhook = defineEndpoint({
  method: "post",
  path: "/webhook/test",
  summary: "Send a test event to the app's first webhook",
  name: "testWebhook",
  description:
    "The event has the type `test` and no request. It is sent whichever event types the webhook has chosen. Like every event it is signed, retried and listed among the deliveries, but it is not in the event feed. The call fails with `validation_failed` when the webhook is disabled.",
  examples: { answer: testDeliveryExample },
  scope: "webhooks",
  response: delivery,
  errors: ["not_found"],
  handle: async (deps, { appId }) => presentDelivery(await sendTestEvent(deps, firstOf(appId))),
});

const rotateWebhookSecret = defineEndpoint({
  method: "post",
  path: "/webhook/secret",
  summary: "Rotate the signing secret of the app's first webhook",
  name: "rotateWebhookSecret",
  description:
    "The new secret is shown only once. For 24 hours each call carries two signatures, one with each secret, so that the receiver can switch at any time. At most two secrets are live: another rotation within that time ends the oldest at once.",
  examples: { answer: rotatedSecretExample },
  scope: "webhooks",
  response: rotatedSecret,
  errors: ["not_found"],
  handle: async (deps, { appId }) => {
    const { secret, previousExpiresAt } = await rotate(deps, firstOf(appId));
    return { secret, previous_expires_at: isoTime(previousExpiresAt) };
  },
});

const listDeliveries = defineEndpoint({
  method: "get",
  path: "/webhook/deliveries",
  summary: "List deliveries of the app's first webhook, newest first",
  name: "listDeliveries",
  examples: { answer: { deliveries: [deliveryExample], ...pageExample } },
  scope: "webhooks",
  query: longPageQuery,
  response: deliveriesPage,
  handle: async ({ database }, { appId, query }) => {
    const page = await list(database.read, firstOf(appId), readPage(query, "deliveries"));
    return pageAnswer(page, "deliveries", "deliveries", page.items.map(presentDelivery));
  },
});

const getDelivery = defineEndpoint({
  method: "get",
  path: "/webhook/deliveries/:id",
  summary: "Show a webhook delivery with its payload",
  name: "getDelivery",
  description: "Of any webhook of the app.",
  examples: { answer: { ...deliveryExample, payload: JSON.stringify(eventExample) } },
  scope: "webhooks",
  params: deliveryParams,
  response: deliveryWithPayload,
  errors: ["not_found"],
  handle: async ({ database }, { appId, params }) => {
    const row = found(await findDelivery(database.read, appId, params.id));
    return { ...presentDelivery(row), payload: await payloadOf(database.read, row) };
  },
});

const redeliverFailed = defineEndpoint({
  method: "post",
  path: "/webhook/deliveries/redeliver",
  summary: "Send the events of all failed deliveries of the app's first webhook again",
  name: "redeliverFailed",
  description:
    "Those of the newest 10,000 failed deliveries whose events no later delivery has, the oldest first, at most 1,000 in a call: call again while `more` is true. Each event keeps its `webhook-id` and gets a new delivery. The call fails with `validation_failed` when the webhook is disabled.",
  examples: { answer: { redelivered: 12, more: false } },
  scope: "webhooks",
  response: redeliveredEvents,
  errors: ["not_found"],
  handle: (deps, { appId }) => redeliverFailedEvents(deps, firstOf(appId)),
});

const redeliver = defineEndpoint({
  method: "post",
  path: "/webhook/deliveries/:id/redeliver",
  summary: "Send the event of a delivery again, at once",
  name: "redeliver",
  description:
    "Of any webhook of the app. The receiver gets the same event with the same `webhook-id`. If the delivery has ended, the answer is a new delivery. If it waits for a retry, the retry happens now. The call fails with `validation_failed` when the webhook is disabled.",
  examples: { answer: deliveryExample },
  scope: "webhooks",
  params: deliveryParams,
  response: delivery,
  errors: ["not_found"],
  handle: async (deps, { appId, params }) => presentDelivery(await redeliverEvent(deps, appId, params.id)),
});

export const WEBHOOK = [
  putWebhook,
  getWebhook,
  deleteWebhook,
  testWebhook,
  rotateWebhookSecret,
  listDeliveries,
  redeliverFailed,
  getDelivery,
  redeliver,
];
