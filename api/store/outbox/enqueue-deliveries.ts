import { sql } from "kysely";

import { DEFAULT_EVENTS, type NamedEvent } from "../../domain/events.ts";
import type { WebhookRow } from "../db/schema.ts";
import { forShare, textSet, type Trx } from "../db/sql.ts";
import { insertDeliveries } from "./deliveries.ts";
import { toWebhook } from "./webhooks.ts";

/** An event that was stored, with what decides which webhooks get it, and in which order. */
export interface EventToDeliver {
  seq: number;
  app_id: string;
  request_id: string | null;
  /** By which webhooks choose: of a correction, the type of the event that it corrects. */
  type: NamedEvent;
  /** A webhook gets deliveries of one subject in order: a request's id, or `<contract>/<token id>`. null: no order. */
  subject: string | null;
  /** The contract that the event is about. null: none, or a collection that is not created yet. */
  collection: string | null;
}

/**
 * Adds a delivery of each event, in their order, to each enabled webhook of its app that wants it now. The webhooks stay so until
 * the commit: whoever disables or removes one ends these deliveries too.
 */
export async function enqueueDeliveries(trx: Trx, events: readonly EventToDeliver[], now: number): Promise<void> {
  if (events.length === 0) return;
  const apps = new Set(events.map((event) => event.app_id));
  const { rows } = await sql<WebhookRow>`
    select * from webhooks where disabled_at is null and app_id in ${textSet(trx, apps)}
     order by id ${forShare(trx)}`.execute(trx);
  const ofApps = Map.groupBy(rows.map(choiceOf), ({ app_id }) => app_id);
  const deliveries = events.flatMap((event) => {
    const wanting = ofApps.get(event.app_id)?.filter((webhook) => webhook.wants(event)) ?? [];
    const { seq: event_seq, app_id, request_id, subject } = event;
    return wanting.map(({ webhook_id }) => ({ event_seq, app_id, webhook_id, request_id, subject }));
  });
  await insertDeliveries(trx, deliveries, now);
}

function choiceOf(row: WebhookRow) {
  const { id: webhook_id, app_id, events, collections } = toWebhook(row);
  const types = new Set<NamedEvent>(events ?? DEFAULT_EVENTS);
  const contracts = collections === null ? null : new Set(collections);
  const wants = ({ type, collection }: EventToDeliver) =>
    types.has(type) && (type === "gap" || contracts === null || (collection !== null && contracts.has(collection)));
  return { webhook_id, app_id, wants };
}
