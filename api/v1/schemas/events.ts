import { z } from "zod";

import { MAX_CURSOR_LENGTH, MAX_PAGE } from "../../config/limits.ts";
import { DEFAULT_EVENTS } from "../../domain/events.ts";
import { REQUEST_TYPES } from "../../domain/request.ts";
import { refuse } from "./inputs.ts";
import { address, integer, requestFailure, requestId, time } from "./outputs.ts";
import { fromBase64, pageFields, toBase64 } from "./pages.ts";
import { parties } from "./requests.ts";

/** An event of a request: the body of a webhook, and an entry of the feed. */
export const event = z
  .object({
    id: z.string().describe("The same in every retry and in the feed."),
    type: z
      .enum(DEFAULT_EVENTS)
      .describe(
        "sent: the request's transaction was sent. completed or error: exactly one of the two ends the request. corrected: a chain reorganization deeper than the configured confirmations changed the outcome.",
      ),
    request_id: requestId,
    request_type: z.enum(REQUEST_TYPES).describe("What the request does."),
    reference: z.string().optional().describe("Present when the call that created the request had a `reference`."),
    transaction_hash: z.string().nullable().describe("null when the request was never sent."),
    ...z.object(parties).partial().shape,
    nft_collection: address.optional().describe("Present when a collection or a token was created."),
    nft_token_id: integer.optional().describe("Present when a token was created."),
    error_code: requestFailure
      .optional()
      .describe("Present on error, and on corrected when the earlier result was lost."),
    created_at: time,
  })
  .meta({ id: "Event" });

/** The body of the test event of `POST /webhook/test`. It belongs to no request and is not in the feed. */
export const testEvent = z
  .object({
    id: z.string().describe("The same in every retry."),
    type: z.literal("test").describe("Events of requests have another type."),
    request_id: z.null().describe("The event belongs to no request."),
    request_type: z.null().describe("The event belongs to no request."),
    transaction_hash: z.null().describe("The event belongs to no request."),
    created_at: time,
  })
  .meta({ id: "TestEvent" });

const position = z
  .string()
  .transform((text, context): number => {
    const place = readPosition(text);
    if (place !== null) return place;
    refuse(
      context,
      "invalid_format",
      "Must be the `next` of an earlier answer of this feed, the `id` of an event of its stream, or `start`.",
    );
    return z.NEVER;
  })
  .meta({
    maxLength: MAX_CURSOR_LENGTH,
    description:
      "`next` of an earlier answer, the `id` of an event of the stream, or `start`. Without it the feed starts at the first event, a stream with the next one.",
  });

export const eventsQuery = z.strictObject({ after: position.optional(), limit: pageFields.limit });

/** @returns null when the text is not a place in the feed. */
export function readPosition(text: string): number | null {
  if (text === "start") return 0;
  const [, digits] = /^events\.(\d{1,15})$/.exec(fromBase64(text)) ?? [];
  return digits === undefined ? null : Number(digits);
}

/** @param place of the last event that was read. */
export function writePosition(place: number): string {
  return toBase64(`events.${place.toString()}`);
}

export const eventsFeed = z
  .object({
    events: z.array(event).max(MAX_PAGE).describe("Oldest first."),
    next: z.string().describe("Cursor for `after`. Always present: used again later, it finds the events since then."),
  })
  .meta({ id: "EventsFeed" });
