import { z } from "zod";

import type { Limits } from "../../config/limits.ts";
import { DELIVERY_STATUSES, EVENT_TYPES, REQUEST_EVENTS } from "../../domain/event.ts";
import { optional, refuse, text } from "./inputs.ts";
import { requestId, time } from "./outputs.ts";
import { pageFrameFields } from "./pages.ts";

export function webhookBody(limits: Limits) {
  return z.strictObject({
    url: text(limits.uri, 1)
      .check((context) => {
        const url = URL.parse(context.value);
        if (url === null || !["http:", "https:"].includes(url.protocol)) {
          refuse(context, "invalid_format", "Must be an http:// or https:// URL.");
        } else if (url.username !== "" || url.password !== "") {
          refuse(context, "invalid_format", "Must not hold credentials.");
        }
      })
      .meta({ description: "http(s) URL that leads to a public address." }),
    events: optional(z.array(z.enum(REQUEST_EVENTS)).min(1).max(REQUEST_EVENTS.length)).meta({
      description: "Types of events to send; all when left out.",
    }),
  });
}

const webhookFields = {
  url: z.string(),
  events: z.array(z.enum(REQUEST_EVENTS)).nullable().meta({ description: "null: all of them." }),
  disabled_at: time.nullable().meta({
    description:
      "Set when the receiver answered 410, or an operator disabled it: nothing is sent until it is registered again.",
  }),
  created_at: time,
  updated_at: time,
};

export const webhook = z.object(webhookFields);
export const registeredWebhook = z.object({
  ...webhookFields,
  secret: z
    .string()
    .nullable()
    .meta({ description: "Signing secret: shown once, when the webhook is first registered." }),
});
export const removedWebhook = z.object({});

export const rotatedSecret = z.object({
  secret: z.string().meta({ description: "The new signing secret: shown this once." }),
  previous_expires_at: time.meta({
    description: "Until then the secret that it replaces signs as well: each delivery carries both signatures.",
  }),
});

export const delivery = z.object({
  id: z.string(),
  event_id: z.string().meta({ description: "`id` of the body and `webhook-id` of the call: the same at every try." }),
  event_type: z.enum(EVENT_TYPES),
  request_id: requestId.nullable().meta({ description: "null for a test event." }),
  status: z.enum(DELIVERY_STATUSES).meta({ description: "failed: no try is left, or the webhook is gone." }),
  attempts: z.int().meta({ description: "Tries made so far." }),
  next_attempt_at: time.nullable().meta({ description: "When it is tried again at the latest; null when it is over." }),
  response_status: z
    .int()
    .nullable()
    .meta({ description: "What the receiver answered to the last try; null: nothing." }),
  error: z.string().nullable().meta({ description: "Why the last try was no success, in words." }),
  created_at: time,
  updated_at: time,
});

export const deliveriesPage = z.object({ deliveries: z.array(delivery), ...pageFrameFields });
