import type { DeliveryStatus, EventType } from "../../domain/event.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/engine.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import type { DeliveryRow } from "../db/schema.ts";

/** A delivery with its event. */
export interface LoggedDelivery extends DeliveryRow {
  eventId: string;
  eventType: EventType;
}

function entries(db: Db) {
  return db
    .selectFrom("deliveries")
    .innerJoin("events", "events.seq", "deliveries.event_seq")
    .selectAll("deliveries")
    .select(["events.id as eventId", "events.type as eventType"]);
}

/** An app's deliveries, newest first. */
export async function listDeliveries(db: Db, appId: string, page: PageQuery): Promise<Page<LoggedDelivery>> {
  let query = entries(db).where("deliveries.app_id", "=", appId);
  if (page.after !== null) query = query.where("deliveries.seq", "<", page.after);
  const rows = await query
    .orderBy("deliveries.seq", "desc")
    .limit(rowsToFetch(page))
    .offset(rowsToSkip(page))
    .execute();
  return pageOf(rows, await readCounter(db, counterKeys.deliveries(appId)), page, (row) => row.seq);
}

/** The newest deliveries of an app, for the operator. */
export async function newestDeliveries(
  db: Db,
  appId: string,
  filter: { status: DeliveryStatus | null; limit: number },
): Promise<LoggedDelivery[]> {
  let query = entries(db).where("deliveries.app_id", "=", appId);
  if (filter.status !== null) query = query.where("deliveries.status", "=", filter.status);
  return query.orderBy("deliveries.seq", "desc").limit(filter.limit).execute();
}

/** @param appId null: any app's (for the operator). */
export async function findDelivery(db: Db, appId: string | null, id: string): Promise<LoggedDelivery | undefined> {
  let query = entries(db).where("deliveries.id", "=", id);
  if (appId !== null) query = query.where("deliveries.app_id", "=", appId);
  return query.executeTakeFirst();
}
