import { z } from "zod";

import { optional, refuse, text } from "./inputs.ts";
import type { Limits } from "../../config/limits.ts";
import { time } from "./outputs.ts";

const EVENT_TYPES = ["sent", "completed", "error"] as const;

export function webhookBody(limits: Limits) {
  return z.strictObject({
    url: text(limits.uri, 1).check((context) => {
      const url = URL.parse(context.value);
      if (url === null || !["http:", "https:"].includes(url.protocol)) {
        refuse(context, "invalid_format", "Must be an http:// or https:// URL.");
      } else if (url.username !== "" || url.password !== "") {
        refuse(context, "invalid_format", "Must not hold credentials.");
      }
    }),
    events: optional(z.array(z.enum(EVENT_TYPES)).min(1).max(EVENT_TYPES.length)).meta({
      description: "Types of events to send; all when left out.",
    }),
  });
}

const webhookFields = {
  url: z.string(),
  events: z.array(z.enum(EVENT_TYPES)).nullable().meta({ description: "null: all of them." }),
  disabled_at: time.nullable().meta({ description: "Set when the receiver answered 410." }),
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
