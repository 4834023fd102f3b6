import { z } from "zod";

import { MAX_CURSOR_LENGTH, MAX_PAGE } from "../../config/limits.ts";
import { DEFAULT_EVENTS, NAMED_EVENTS, type NamedEvent, REQUEST_EVENTS, TOKEN_EVENTS } from "../../domain/events.ts";
import { REQUEST_TYPES } from "../../domain/request.ts";
import { refuse } from "./inputs.ts";
import { address, integer, requestFailure, requestId, time, transactionHash } from "./outputs.ts";
import { fromBase64, pageFields, toBase64 } from "./pages.ts";
import { parties } from "./requests.ts";

const eventId = z.string().describe("The same in every retry and in the feed.");

/** An event of a request: the body of a webhook, and an entry of the feed. */
export const event = z
  .object({
    id: eventId,
    type: z
      .enum(REQUEST_EVENTS)
      .describe(
        "sent: the request's transaction was sent. completed or error: exactly one of the two ends the request. corrected: a chain reorganization deeper than the configured confirmations changed the outcome. The last two come only to those who name them. in_block: the transaction is in a block that is not final. dropped: a reorganization has removed that block; another in_block, completed or error follows.",
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
      .describe(
        "Present on error, on in_block when the call failed, and on corrected when the earlier result was lost.",
      ),
    block_number: z
      .int()
      .optional()
      .describe("Present on in_block and dropped: the block that has, or had, the transaction."),
    created_at: time,
  })
  .meta({ id: "Event" });

const tokenFields = {
  id: eventId,
  request_id: requestId.nullable().describe("null when no request of this app caused it."),
  contract_address: address,
  token_id: integer,
  quantity: integer.describe("Number of copies; 1 for ERC721."),
  from_address: address.nullable().describe("null for a mint."),
  to_address: address.nullable().describe("null for a burn."),
  from_user: parties.from_user,
  to_user: parties.to_user,
  transaction_hash: transactionHash,
  block_number: z.int().describe("The block in which it happened. It is final."),
  block_time: time,
  log_index: z.int().describe("The log in the block."),
  batch_index: z.int().describe("Position in the log: one log can move many ids."),
  created_at: time,
};

/** An event of a movement of tokens: of the app's wallets, or in its collections. */
export const tokenEvent = z
  .object({
    type: z
      .enum(TOKEN_EVENTS)
      .describe(
        "token.minted and token.burned: the sender, or the receiver, is the zero address. token.sent: the sender is a wallet of the app. token.received: the receiver is one, and the sender is not. token.transferred: neither is one, in a collection of the app.",
      ),
    ...tokenFields,
  })
  .meta({ id: "TokenEvent" });

export const tokenCorrection = z
  .object({
    type: z
      .literal("corrected")
      .describe("A chain reorganization deeper than the configured confirmations has undone the movement."),
    corrects: z
      .string()
      .describe("`id` of the event that is not true any more. The other fields are those of that event."),
    ...tokenFields,
  })
  .meta({ id: "TokenCorrection" });

export const gapEvent = z
  .object({
    id: eventId,
    type: z
      .literal("gap")
      .describe(
        "Some movements of tokens have no event: strangers moved tokens of the app's collections too often, or the service was restored from a backup.",
      ),
    request_id: z.null().describe("The event belongs to no request."),
    from_block: z.int().describe("First block that has such movements. The histories of the tokens have them all."),
    to_block: z.int().describe("Last such block."),
    created_at: time,
  })
  .meta({ id: "GapEvent" });

const anyEvent = z.union([event, tokenEvent, tokenCorrection, gapEvent]);
export type AnyEvent = z.input<typeof anyEvent>;

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

const ALL_NAMES = NAMED_EVENTS.join(",");
const types = z
  .string()
  .transform((text, context): NamedEvent[] => {
    const names = text.split(",", NAMED_EVENTS.length + 1);
    const known = NAMED_EVENTS.filter((name) => names.includes(name));
    if (known.length === names.length) return known;
    refuse(
      context,
      "invalid",
      `Must be one or more of these, each once, separated by commas: ${NAMED_EVENTS.join(", ")}.`,
    );
    return z.NEVER;
  })
  .meta({
    maxLength: ALL_NAMES.length,
    description: `Only events of these types, separated by commas: ${NAMED_EVENTS.map((name) => `\`${name}\``).join(", ")}. Without it: ${DEFAULT_EVENTS.map((name) => `\`${name}\``).join(", ")}, of requests. A \`corrected\` of a token event comes with the type of the event that it corrects.`,
  });

export const eventsQuery = z.strictObject({
  after: position.optional(),
  limit: pageFields.limit,
  types: types.optional(),
});
export type EventsQuery = z.output<typeof eventsQuery>;

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
    events: z.array(anyEvent).max(MAX_PAGE).describe("Oldest first."),
    next: z.string().describe("Cursor for `after`. Always present: used again later, it finds the events since then."),
  })
  .meta({ id: "EventsFeed" });
