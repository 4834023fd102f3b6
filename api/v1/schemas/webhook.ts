import { z } from "zod";

import { MAX_URI_LENGTH } from "../../config/limits.ts";
import { DEFAULT_EVENTS, EVENT_TYPES } from "../../domain/events.ts";
import { DELIVERY_STATUSES } from "../../domain/request.ts";
import { MAX_ANSWER_BYTES } from "../../shared/answer-text.ts";
import { optional, refuse, text } from "./inputs.ts";
import { requestId, time } from "./outputs.ts";
import { pageFrameFields, pageSchema } from "./pages.ts";

export const webhookBody = z
  .strictObject({
    url: text(MAX_URI_LENGTH, 1)
      .check((context) => {
        const url = URL.parse(context.value);
        if (url === null || !["http:", "https:"].includes(url.protocol)) {
          refuse(context, "invalid_format", "Must be an http:// or https:// URL.");
        } else if (url.username !== "" || url.password !== "") {
          refuse(context, "invalid_format", "Must not contain a user name or a password.");
        }
      })
      .describe("http(s) URL that resolves to public addresses."),
    events: optional(z.array(z.enum(DEFAULT_EVENTS)).min(1).max(DEFAULT_EVENTS.length)).describe(
      "Event types to send. The default is all of them.",
    ),
  })
  .meta({ id: "SetWebhook" });

export const webhook = z
  .object({
    url: z.string().describe("Where events are sent."),
    events: z.array(z.enum(DEFAULT_EVENTS)).nullable().describe("null means all of them."),
    disabled_at: time
      .nullable()
      .describe(
        "Set when the receiver answered 410 or the operator disabled the webhook. Nothing is sent until the app registers the webhook again.",
      ),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: "Webhook" });
export const registeredWebhook = webhook
  .extend({
    secret: z.string().nullable().describe("Signing secret. Shown only once, at the first registration."),
  })
  .meta({ id: "RegisteredWebhook" });
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
    event_id: z.string().describe("`id` of the body and `webhook-id` of the call. The same at every try."),
    event_type: z.enum(EVENT_TYPES).describe("The `type` of the event."),
    request_id: requestId.nullable().describe("null for a test event."),
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
