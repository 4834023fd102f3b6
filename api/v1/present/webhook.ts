import type { z } from "zod";

import type { LoggedDelivery } from "../../store/outbox/delivery-log.ts";
import type { StoredWebhook } from "../../store/outbox/webhooks.ts";
import type { delivery } from "../schemas/webhook.ts";
import { isoTime } from "./time.ts";

/** The webhook without its secrets. */
export function presentWebhook(row: StoredWebhook) {
  return {
    url: row.url,
    events: row.events,
    disabled_at: row.disabled_at === null ? null : isoTime(row.disabled_at),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}

export function presentDelivery(row: LoggedDelivery): z.input<typeof delivery> {
  return {
    id: row.id,
    event_id: row.eventId,
    event_type: row.eventType,
    request_id: row.request_id,
    status: row.status,
    attempts: row.tries,
    // A delivery that is due at once is stored with time 0.
    next_attempt_at: row.next_at === null ? null : isoTime(Math.max(row.next_at, row.updated_at)),
    response_status: row.response_status,
    error: row.error,
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
