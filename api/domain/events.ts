/** Events of a request. A webhook gets only these, and a reader of the feed too, unless it names others. */
export const DEFAULT_EVENTS = ["sent", "completed", "error", "corrected"] as const;
export type DefaultEvent = (typeof DEFAULT_EVENTS)[number];

/**
 * Events of a request. Their order is `sent`, `in_block`, then `dropped` and `in_block` for each reorg, and exactly one of `completed`
 * and `error`. `in_block` is left out when the block is final at once. `corrected` can follow, more than once, when a reorg deeper
 * than `CONFIRMATIONS` changed the outcome.
 */
export const REQUEST_EVENTS = [...DEFAULT_EVENTS, "in_block", "dropped"] as const;
export type RequestEvent = (typeof REQUEST_EVENTS)[number];

/** Events of a movement of tokens. `tokenEventOf` says which one an app gets. */
export const TOKEN_EVENTS = [
  "token.minted",
  "token.burned",
  "token.sent",
  "token.received",
  "token.transferred",
] as const;
export type TokenEvent = (typeof TOKEN_EVENTS)[number];

/**
 * What a movement is for an app.
 * @param move `from` null: a mint; `to` null: a burn.
 * @param app whether the sender and the receiver are wallets of the app.
 */
export function tokenEventOf(
  { from, to }: { from: string | null; to: string | null },
  { sends, receives }: { sends: boolean; receives: boolean },
): TokenEvent {
  if (from === null) return "token.minted";
  if (to === null) return "token.burned";
  if (sends) return "token.sent";
  return receives ? "token.received" : "token.transferred";
}

/** The types that webhooks and readers of the feed can name. `gap` names blocks whose movements got no events. */
export const NAMED_EVENTS = [...REQUEST_EVENTS, ...TOKEN_EVENTS, "gap"] as const;
export type NamedEvent = (typeof NAMED_EVENTS)[number];

/** `test` is sent when the app asks for it. It is not in the feed. */
export const EVENT_TYPES = [...NAMED_EVENTS, "test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];
