import { sql } from "kysely";

import { DEFAULT_EVENTS, type NamedEvent } from "../../domain/events.ts";
import type { WebhookRow } from "../db/schema.ts";
import { forShare, textSet, type Trx } from "../db/sql.ts";
import { insertDeliveries } from "./deliveries.ts";
import { toEventTypes } from "./webhooks.ts";

/** An event that was stored, with what decides which webhooks get it, and in which order. */
export interface EventToDeliver {
  seq: number;
  app_id: string;
  request_id: string | null;
  /** By which webhooks choose: of a correction, the type of the event that it corrects. */
  type: NamedEvent;
  /** Deliveries of one subject are kept in order: a request's id, or `<contract>/<token id>`. null: no order. */
  subject: string | null;
  /** The contract that the event is about. null: none, or a collection that is not created yet. */
  collection: string | null;
}

/**
 * Adds a delivery only if the app has an enabled webhook for this type of event now. The webhook stays so until the commit:
 * whoever disables or removes it ends this delivery too.
 */
export async function enqueueDeliveries(trx: Trx, events: readonly EventToDeliver[], now: number): Promise<void> {
  if (events.length === 0) return;
  const apps = new Set(events.map((event) => event.app_id));
  const { rows } = await sql<Pick<WebhookRow, "app_id" | "events">>`
    select app_id, events from webhooks
     where disabled_at is null and app_id in ${textSet(trx, apps)}
     order by app_id ${forShare(trx)}`.execute(trx);
  const wanted = new Map(rows.map((row) => [row.app_id, toEventTypes(row.events) ?? DEFAULT_EVENTS]));
  const delivered = events.filter(({ app_id: app, type }) => wanted.get(app)?.some((name) => name === type) === true);
  await insertDeliveries(trx, delivered, now);
}
