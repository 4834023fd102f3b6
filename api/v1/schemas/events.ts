import { z } from "zod";

import { MAX_PAGE } from "../../config/limits.ts";
import { REQUEST_EVENTS } from "../../domain/event.ts";
import { REQUEST_TYPES } from "../../domain/request.ts";
import { refuse } from "./inputs.ts";
import { address, integer, requestFailure, requestId, time } from "./outputs.ts";
import { fromBase64, pageFields, toBase64 } from "./pages.ts";

/** What happened to a request: the body of a webhook, and an entry of the feed. */
export const event = z
  .object({
    id: z
      .string()
      .meta({ description: "The same wherever the event appears again: in a further try, and in the feed." }),
    type: z.enum(REQUEST_EVENTS).meta({
      description:
        "sent: its transaction was sent; completed or error: exactly one of the two ends it; corrected: the chain was reorganised deeper than what had been taken for final, and the outcome is another one now.",
    }),
    request_id: requestId,
    request_type: z.enum(REQUEST_TYPES),
    transaction_hash: z.string().nullable(),
    nft_collection: address.optional().meta({ description: "When a collection or a token was created." }),
    nft_token_id: integer.optional().meta({ description: "When a token was created." }),
    error_code: requestFailure
      .optional()
      .meta({ description: "On error; on corrected when what had been done is gone." }),
    created_at: time,
  })
  .meta({ id: "Event" });

/** The body of a webhook that `POST /webhook/test` asked for. It stands for nothing, and is not in the feed. */
export const testEvent = z
  .object({
    id: z.string(),
    type: z.literal("test"),
    request_id: z.null(),
    request_type: z.null(),
    transaction_hash: z.null(),
    created_at: time,
  })
  .meta({ id: "TestEvent" });

const position = z
  .string()
  .transform((text, context): number => {
    const [, digits] = /^events\.(\d{1,15})$/.exec(fromBase64(text)) ?? [];
    if (digits !== undefined) return Number(digits);
    refuse(context, "invalid_format", "Must be the `next` of an earlier answer.");
    return z.NEVER;
  })
  .meta({ description: "`next` of an earlier answer; left out: from the first event on." });

export const eventsQuery = z.strictObject({ after: position.optional(), limit: pageFields.limit });

/** @param place in the feed up to which everything was seen. */
export function writePosition(place: number): string {
  return toBase64(`events.${place.toString()}`);
}

export const eventsFeed = z.object({
  events: z.array(event).max(MAX_PAGE).meta({ description: "Oldest first." }),
  next: z.string().meta({
    description: "Cursor for `after`. There is always one: given again later, it finds what has happened since.",
  }),
});
