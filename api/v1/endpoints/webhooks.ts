import type { z } from "zod";

import {
  changeWebhook as change,
  createWebhook as create,
  redeliverEvent,
  redeliverFailedEvents,
  registerWebhook,
  rotateWebhookSecret,
  sendTestEvent,
} from "../../commands/webhooks.ts";
import { ApiError } from "../../domain/error-codes.ts";
import type { WebhookKey } from "../../store/db/schema.ts";
import { findDelivery, listDeliveries, payloadOf } from "../../store/outbox/deliveries.ts";
import { deleteWebhook, findWebhook, listWebhooks as list } from "../../store/outbox/webhooks.ts";
import { defineEndpoint, type Endpoint } from "../endpoint.ts";
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
import { deliveryParams, none, webhookParams } from "../schemas/params.ts";
import {
  createdWebhook,
  deliveriesPage,
  delivery,
  deliveryWithPayload,
  newWebhookBody,
  redeliveredEvents,
  registeredWebhook,
  removedWebhook,
  rotatedSecret,
  webhook,
  webhookBody,
  webhookChanges,
  webhooksList,
} from "../schemas/webhook.ts";

/** What the calls of one webhook have in common: those of an app's first webhook, and those of any by its id. */
interface Calls<P extends z.ZodType> {
  path: "/webhook" | "/webhooks/:id";
  params: P;
  /** The webhook, in summaries. */
  which: string;
  /** Operation ids. */
  names: Record<"get" | "remove" | "test" | "rotate" | "deliveries" | "redeliver", string>;
  keyOf: (call: { appId: string; params: z.output<P> }) => WebhookKey;
  /** Whether its deliveries are listed also after its removal. */
  outlived: boolean;
}

function callsOfOne<P extends z.ZodType>(calls: Calls<P>): Endpoint[] {
  const { path, params, which, names, keyOf } = calls;
  const common = { scope: "webhooks", params, errors: ["not_found"] } as const;
  return [
    defineEndpoint({
      ...common,
      method: "get",
      path,
      summary: `Show ${which}`,
      name: names.get,
      examples: { answer: webhookExample },
      response: webhook,
      handle: async ({ database }, call) => presentWebhook(found(await findWebhook(database.read, keyOf(call)))),
    }),
    defineEndpoint({
      ...common,
      method: "delete",
      path,
      summary: `Remove ${which}`,
      name: names.remove,
      description: "Its deliveries that wait fail. No other webhook takes its place.",
      examples: { answer: {} },
      response: removedWebhook,
      handle: async ({ database }, call) => {
        if (await database.write((trx) => deleteWebhook(trx, keyOf(call), Date.now()))) return {};
        throw new ApiError("not_found");
      },
    }),
    defineEndpoint({
      ...common,
      method: "post",
      path: `${path}/test`,
      summary: `Send a test event to ${which}`,
      name: names.test,
      description:
        "The event has the type `test` and no request. It is sent whichever event types the webhook has chosen. Like every event it is signed, retried and listed among the deliveries, but it is not in the event feed. The call fails with `validation_failed` when the webhook is disabled.",
      examples: { answer: testDeliveryExample },
      response: delivery,
      handle: async (deps, call) => presentDelivery(await sendTestEvent(deps, keyOf(call))),
    }),
    defineEndpoint({
      ...common,
      method: "post",
      path: `${path}/secret`,
      summary: `Rotate the signing secret of ${which}`,
      name: names.rotate,
      description:
        "The new secret is shown only once. For 24 hours each call carries two signatures, one with each secret, so that the receiver can switch at any time. At most two secrets are live: another rotation within that time ends the oldest at once.",
      examples: { answer: rotatedSecretExample },
      response: rotatedSecret,
      handle: async (deps, call) => {
        const { secret, previousExpiresAt } = await rotateWebhookSecret(deps, keyOf(call));
        return { secret, previous_expires_at: isoTime(previousExpiresAt) };
      },
    }),
    ...callsOfDeliveries(calls),
  ];
}

function callsOfDeliveries<P extends z.ZodType>(calls: Calls<P>): Endpoint[] {
  const { path, params, which, names, keyOf, outlived } = calls;
  const common = { scope: "webhooks", params } as const;
  return [
    defineEndpoint({
      ...common,
      method: "get",
      path: `${path}/deliveries`,
      summary: `List deliveries to ${which}, newest first`,
      name: names.deliveries,
      examples: { answer: { deliveries: [deliveryExample], ...pageExample } },
      query: longPageQuery,
      response: deliveriesPage,
      errors: outlived ? [] : ["not_found"],
      handle: async ({ database }, call) => {
        const key = keyOf(call);
        if (!outlived) found(await findWebhook(database.read, key));
        const page = await listDeliveries(database.read, key, readPage(call.query, "deliveries"));
        return pageAnswer(page, "deliveries", "deliveries", page.items.map(presentDelivery));
      },
    }),
    defineEndpoint({
      ...common,
      method: "post",
      path: `${path}/deliveries/redeliver`,
      summary: `Send the events of all failed deliveries to ${which} again`,
      name: names.redeliver,
      description:
        "Sends the events of the newest 10,000 failed deliveries again, except events that have a later delivery. The oldest come first, at most 1,000 in a call: call again while `more` is true. Each event keeps its `webhook-id` and gets a new delivery. The call fails with `validation_failed` when the webhook is disabled.",
      examples: { answer: { redelivered: 12, more: false } },
      response: redeliveredEvents,
      errors: ["not_found"],
      handle: (deps, call) => redeliverFailedEvents(deps, keyOf(call)),
    }),
  ];
}

const OF_FIRST = callsOfOne({
  path: "/webhook",
  params: none,
  which: "the app's first webhook",
  names: {
    get: "getWebhook",
    remove: "deleteWebhook",
    test: "testWebhook",
    rotate: "rotateWebhookSecret",
    deliveries: "listDeliveries",
    redeliver: "redeliverFailed",
  },
  keyOf: ({ appId }) => ({ id: appId, app_id: appId }),
  outlived: true,
});

const OF_ANY = callsOfOne({
  path: "/webhooks/:id",
  params: webhookParams,
  which: "a webhook",
  names: {
    get: "getOneWebhook",
    remove: "deleteOneWebhook",
    test: "testOneWebhook",
    rotate: "rotateOneSecret",
    deliveries: "listDeliveriesOfOne",
    redeliver: "redeliverFailedOfOne",
  },
  keyOf: ({ appId, params: { id } }) => ({ id, app_id: appId }),
  outlived: false,
});

const putWebhook = defineEndpoint({
  method: "put",
  path: "/webhook",
  summary: "Register or change the app's first webhook",
  name: "putWebhook",
  description:
    "`POST /v1/webhooks` creates further webhooks. Calls are signed as in Standard Webhooks. The answer to the first registration has the signing secret. The URL must not lead to a private address: a URL with a private IP address is refused, and a host name is looked up at each delivery.",
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
    "Each webhook has its own secret, order, retries and deliveries, and none delays another. An app has at most 10, including the webhook of `/v1/webhook`. Only the answer shows the signing secret, so the call takes no `Idempotency-Key`: if the answer is lost, create the webhook again.",
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

const changeWebhook = defineEndpoint({
  method: "patch",
  path: "/webhooks/:id",
  summary: "Change a webhook",
  name: "changeWebhook",
  description: "A field that is left out keeps its value. `url` enables a disabled webhook. The secret stays.",
  examples: { bodies: { "Another URL": { url: "https://app.example/hooks/new" } }, answer: webhookExample },
  scope: "webhooks",
  params: webhookParams,
  body: webhookChanges,
  response: webhook,
  errors: ["not_found"],
  handle: async (deps, { appId, params: { id }, body }) =>
    presentWebhook(await change(deps, { id, app_id: appId }, body)),
});

export const WEBHOOKS = [
  putWebhook,
  ...OF_FIRST,
  getDelivery,
  redeliver,
  listWebhooks,
  createWebhook,
  changeWebhook,
  ...OF_ANY,
];
