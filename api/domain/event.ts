/**
 * What is told about a request, in the order in which it can happen; of `completed` and `error` exactly one. `corrected`
 * follows them, as often as need be, when the chain dropped blocks that were taken for final, and the outcome is another
 * one now.
 */
export const REQUEST_EVENTS = ["sent", "completed", "error", "corrected"] as const;
export type RequestEvent = (typeof REQUEST_EVENTS)[number];

/** `test` is sent when the app asks for it, and stands for nothing that happened. */
export const EVENT_TYPES = [...REQUEST_EVENTS, "test"] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** `pending` while there are tries left, `failed` when there are none. */
export const DELIVERY_STATUSES = ["pending", "delivered", "failed"] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
