/**
 * Events of a request, in order. Exactly one of `completed` and `error` is ever produced. `corrected` can follow them, more
 * than once, when a reorg deeper than `CONFIRMATIONS` changed the outcome.
 */
export const REQUEST_EVENTS = ["sent", "completed", "error", "corrected"] as const;
export type RequestEvent = (typeof REQUEST_EVENTS)[number];

/** `test` is sent when the app asks for it. It belongs to no request. */
export const EVENT_TYPES = [...REQUEST_EVENTS, "test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** `pending` while retries are left, `failed` when none is left. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
