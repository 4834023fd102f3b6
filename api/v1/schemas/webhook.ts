import { z } from "zod";

import { MAX_URI_LENGTH, MAX_WEBHOOK_COLLECTIONS, MAX_WEBHOOK_DESCRIPTION, MAX_WEBHOOKS } from "../../config/limits.ts";
import { DEFAULT_EVENTS, EVENT_TYPES, NAMED_EVENTS } from "../../domain/events.ts";
import { DELIVERY_STATUSES } from "../../domain/request.ts";
import { MAX_ANSWER_BYTES } from "../../shared/answer-text.ts";
import { address, optional, refuse, text } from "./inputs.ts";
import { address as outputAddress, requestId, time } from "./outputs.ts";
import { pageFrameFields, pageSchema } from "./pages.ts";

const url = text(MAX_URI_LENGTH, 1)
  .check((context) => {
    const parsed = URL.parse(context.value);
    if (parsed === null || !["http:", "https:"].includes(parsed.protocol)) {
      refuse(context, "invalid_format", "Must be an http:// or https:// URL.");
    } else if (parsed.username !== "" || parsed.password !== "") {
      refuse(context, "invalid_format", "Must not contain a user name or a password.");
    }
  })
  .describe("http(s) URL that resolves to public addresses.");
const DEFAULT_TYPES = DEFAULT_EVENTS.map((type) => `\`${type}\``).join(", ");
const events = z.array(z.enum(NAMED_EVENTS)).min(1).max(NAMED_EVENTS.length);
const collections = z.array(address).min(1).max(MAX_WEBHOOK_COLLECTIONS);
const description = text(MAX_WEBHOOK_DESCRIPTION, 1);
const ABOUT_EVENTS = `Event types to send. The default is ${DEFAULT_TYPES}.`;
const ABOUT_COLLECTIONS =
  "Only events about these contracts are sent, and `gap`. While a collection is being created, the events of that request are about no contract. The default is all events.";
const ABOUT_DESCRIPTION = "The app's own words.";

export const webhookBody = z
  .strictObject({ url, events: optional(events).describe(ABOUT_EVENTS) })
  .meta({ id: "SetWebhook" });

export const newWebhookBody = z
  .strictObject({
    url,
    events: optional(events).describe(ABOUT_EVENTS),
    collections: optional(collections).describe(ABOUT_COLLECTIONS),
    description: optional(description).describe(ABOUT_DESCRIPTION),
  })
  .meta({ id: "CreateWebhook" });

export const webhookChanges = z
  .strictObject({
    url: url.optional().describe("http(s) URL that resolves to public addresses. It enables a disabled webhook."),
    events: events.nullish().describe(`${ABOUT_EVENTS} null: the default.`),
    collections: collections.nullish().describe(`${ABOUT_COLLECTIONS} null: the default.`),
    description: description.nullish().describe(`${ABOUT_DESCRIPTION} null removes them.`),
  })
  .check((context) => {
    if (Object.values(context.value).every((value) => value === undefined))
      refuse(context, "required", "Send at least one field: url, events, collections or description.");
  })
  .meta({ id: "ChangeWebhook", minProperties: 1 });

export const webhook = z
  .object({
    id: z.string().describe("Id of the webhook. The webhook of `/v1/webhook` has the id of the app."),
    url: z.string().describe("Where events are sent."),
    events: z.array(z.enum(NAMED_EVENTS)).nullable().describe(`null means ${DEFAULT_TYPES}.`),
    collections: z.array(outputAddress).nullable().describe("Contracts whose events are sent. null means all."),
    description: z.string().nullable().describe(ABOUT_DESCRIPTION),
    disabled_at: time
      .nullable()
      .describe(
        "Set when the receiver answered 410 or the operator disabled the webhook. Nothing is sent until the app sets its `url` again.",
      ),
    last_error: z.string().nullable().describe("Why deliveries fail. null: they do not."),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Webhook" });
export const webhooksList = z
  .object({ webhooks: z.array(webhook).max(MAX_WEBHOOKS).describe("The webhook of `/v1/webhook` comes first.") })
  .meta({ id: "Webhooks" });
export const registeredWebhook = webhook
  .extend({
    secret: z.string().nullable().describe("Signing secret. Shown only once, at the first registration."),
  })
  .meta({ id: "RegisteredWebhook" });
export const createdWebhook = webhook
  .extend({ secret: z.string().describe("Signing secret. Shown only once.") })
  .meta({ id: "CreatedWebhook" });
export const removedWebhook = z.object({}).meta({ id: "RemovedWebhook" });

export const rotatedSecret = z
  .object({
    secret: z.string().describe("The new signing secret. Shown only once."),
    previous_expires_at: time.describe(
      "Until then the previous secret signs as well: each call carries both signatures.",
    ),
  })
  .meta({ id: "RotatedSecret" });

export const delivery = z
  .object({
    id: z.string().describe("Id of the delivery."),
    webhook_id: z.string().describe("The webhook that gets it. It may have been removed."),
    event_id: z.string().describe("`id` of the body and `webhook-id` of the call. The same at every try."),
    event_type: z.enum(EVENT_TYPES).describe("The `type` of the event."),
    request_id: requestId.nullable().describe("null unless the event is one of a request."),
    status: z.enum(DELIVERY_STATUSES).describe("failed: no retry is left, or the webhook was removed."),
    attempts: z.int().describe("Number of tries so far."),
    next_attempt_at: time.nullable().describe("Latest time of the next try. null when the delivery has ended."),
    response_status: z
      .int()
      .nullable()
      .describe("HTTP status of the receiver's answer to the last try. null when there was no answer."),
    response_body: z
      .string()
      .nullable()
      .describe(
        `How the body of that answer begins: at most ${MAX_ANSWER_BYTES.toLocaleString("en")} bytes, as text. Bytes that are not UTF-8, and control characters, are replaced by U+FFFD. The receiver chose this text: escape it before you show it. null when the answer had no body, or there was no answer.`,
      ),
    error: z.string().nullable().describe("Why the last try failed."),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Delivery" });

export const deliveryWithPayload = delivery
  .extend({ payload: z.string().describe("The body that the receiver gets, byte by byte.") })
  .meta({ id: "DeliveryWithPayload" });

export const redeliveredEvents = z
  .object({
    redelivered: z.int().describe("How many events are sent again."),
    more: z.boolean().describe("Whether there are more. Then call again."),
  })
  .meta({ id: "RedeliveredEvents" });

export const deliveriesPage = z
  .object({ deliveries: pageSchema(delivery), ...pageFrameFields })
  .meta({ id: "DeliveriesPage" });
