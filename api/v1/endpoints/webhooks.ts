import {
  changeWebhook as change,
  createWebhook as create,
  redeliverFailedEvents,
  rotateWebhookSecret,
  sendTestEvent,
} from "../../commands/webhooks.ts";
import { ApiError } from "../../domain/error-codes.ts";
import { listDeliveries } from "../../store/outbox/deliveries.ts";
import { deleteWebhook as remove, findWebhook, listWebhooks as list } from "../../store/outbox/webhooks.ts";
import { defineEndpoint } from "../endpoint.ts";
import {
  deliveryExample,
  pageExample,
  rotatedSecretExample,
  testDeliveryExample,
  webhookExample,
} from "../examples.ts";
import { found, isoTime, presentDelivery, presentWebhook } from "../present.ts";
import { longPageQuery, pageAnswer, readPage } from "../schemas/pages.ts";
import { webhookParams } from "../schemas/params.ts";
import {
  createdWebhook,
  deliveriesPage,
  delivery,
  newWebhookBody,
  redeliveredEvents,
  removedWebhook,
  rotatedSecret,
  webhook,
  webhookChanges,
  webhooksList,
} from "../schemas/webhook.ts";

const listWebhooks = defineEndpoint({
  method: "get",
  path: "/webhooks",
  summary: "List the app's webhooks",
  name: "listWebhooks",
  examples: { answer: { webhooks: [webhookExample] } },
  scope: "webhooks",
  response: webhooksList,
  handle: async ({ database }, { appId }) => ({
    webhooks: (await list(database.read, appId)).map(presentWebhook),
  }),
});

const createWebhook = defineEndpoint({
  method: "post",
  path: "/webhooks",
  summary: "Create a webhook",
  name: "createWebhook",
  description:
    "Each webhook has its own secret, order, retries and deliveries, and none delays another. An app has at most 10, with that of `/v1/webhook`. The answer shows the signing secret once, so the call takes no `Idempotency-Key`: if the answer is lost, remove the webhook and create it again. `PUT /v1/webhook` says what holds for the URL.",
  examples: {
    bodies: {
      "Results of requests": { url: "https://app.example/hooks/nft" },
      "Moves of tokens of one collection": {
        url: "https://app.example/hooks/market",
        events: ["token.sent", "token.received", "token.transferred", "gap"],
        collections: ["0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60"],
        description: "Market page",
      },
    },
    answer: { ...webhookExample, secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" },
  },
  scope: "webhooks",
  body: newWebhookBody,
  response: createdWebhook,
  errors: ["too_many_webhooks"],
  handle: async (deps, { appId, body }) => {
    const { url, events = null, collections = null, description = null } = body;
    const { webhook: created, secret } = await create(deps, appId, { url, events, collections, description });
    return { ...presentWebhook(created), secret };
  },
});

/** The endpoints of one webhook. */
const ONE = { scope: "webhooks", params: webhookParams, errors: ["not_found"] } as const;

const getOneWebhook = defineEndpoint({
  ...ONE,
  method: "get",
  path: "/webhooks/:id",
  summary: "Show one of the app's webhooks",
  name: "getOneWebhook",
  examples: { answer: webhookExample },
  response: webhook,
  handle: async ({ database }, { appId, params: { id } }) =>
    presentWebhook(found(await findWebhook(database.read, { id, app_id: appId }))),
});

const changeWebhook = defineEndpoint({
  ...ONE,
  method: "patch",
  path: "/webhooks/:id",
  summary: "Change a webhook",
  name: "changeWebhook",
  description: "A field that is left out keeps its value. `url` enables a disabled webhook. The secret stays.",
  examples: { bodies: { "Another URL": { url: "https://app.example/hooks/new" } }, answer: webhookExample },
  body: webhookChanges,
  response: webhook,
  handle: async (deps, { appId, params: { id }, body }) =>
    presentWebhook(await change(deps, { id, app_id: appId }, body)),
});

const deleteOneWebhook = defineEndpoint({
  ...ONE,
  method: "delete",
  path: "/webhooks/:id",
  summary: "Remove a webhook",
  name: "deleteOneWebhook",
  description: "Its deliveries that wait fail. No other webhook takes its place.",
  examples: { answer: {} },
  response: removedWebhook,
  handle: async ({ database }, { appId, params: { id } }) => {
    const removed = await database.write((trx) => remove(trx, { id, app_id: appId }, Date.now()));
    if (!removed) throw new ApiError("not_found");
    return {};
  },
});

const testOneWebhook = defineEndpoint({
  ...ONE,
  method: "post",
  path: "/webhooks/:id/test",
  summary: "Send a test event to a webhook",
  name: "testOneWebhook",
  description: "As `POST /v1/webhook/test`, to this webhook only.",
  examples: { answer: testDeliveryExample },
  response: delivery,
  handle: async (deps, { appId, params: { id } }) => presentDelivery(await sendTestEvent(deps, { id, app_id: appId })),
});

const rotateOneSecret = defineEndpoint({
  ...ONE,
  method: "post",
  path: "/webhooks/:id/secret",
  summary: "Rotate the signing secret of a webhook",
  name: "rotateOneSecret",
  description: "As `POST /v1/webhook/secret`. Other webhooks keep their secrets.",
  examples: { answer: rotatedSecretExample },
  response: rotatedSecret,
  handle: async (deps, { appId, params: { id } }) => {
    const { secret, previousExpiresAt } = await rotateWebhookSecret(deps, { id, app_id: appId });
    return { secret, previous_expires_at: isoTime(previousExpiresAt) };
  },
});

const listDeliveriesOfWebhook = defineEndpoint({
  ...ONE,
  method: "get",
  path: "/webhooks/:id/deliveries",
  summary: "List the deliveries of a webhook, newest first",
  name: "listDeliveriesOfWebhook",
  description: "`GET /v1/webhook/deliveries/{id}` shows one of them, and `POST .../redeliver` sends it again.",
  examples: { answer: { deliveries: [deliveryExample], ...pageExample } },
  query: longPageQuery,
  response: deliveriesPage,
  handle: async ({ database }, { appId, params: { id }, query }) => {
    const key = { id, app_id: appId };
    found(await findWebhook(database.read, key));
    const page = await listDeliveries(database.read, key, readPage(query, "deliveries"));
    return pageAnswer(page, "deliveries", "deliveries", page.items.map(presentDelivery));
  },
});

const redeliverFailedOfWebhook = defineEndpoint({
  ...ONE,
  method: "post",
  path: "/webhooks/:id/deliveries/redeliver",
  summary: "Send the events of a webhook's failed deliveries again",
  name: "redeliverFailedOfWebhook",
  description: "As `POST /v1/webhook/deliveries/redeliver`, for this webhook.",
  examples: { answer: { redelivered: 12, more: false } },
  response: redeliveredEvents,
  handle: (deps, { appId, params: { id } }) => redeliverFailedEvents(deps, { id, app_id: appId }),
});

export const WEBHOOKS = [
  listWebhooks,
  createWebhook,
  getOneWebhook,
  changeWebhook,
  deleteOneWebhook,
  testOneWebhook,
  rotateOneSecret,
  listDeliveriesOfWebhook,
  redeliverFailedOfWebhook,
];
