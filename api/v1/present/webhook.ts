import type { EventRow, WebhookRow } from "../../store/schema.ts";
import { isoTime } from "./time.ts";

/** The webhook without its secrets. */
export function presentWebhook(row: WebhookRow) {
  return {
    url: row.url,
    events: row.events === null ? null : (JSON.parse(row.events) as EventRow["type"][]),
    disabled_at: row.disabled_at === null ? null : isoTime(row.disabled_at),
    created_at: isoTime(row.created_at),
    updated_at: isoTime(row.updated_at),
  };
}
