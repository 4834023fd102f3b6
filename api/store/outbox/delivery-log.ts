import { sql } from "kysely";

import type { DeliveryStatus, EventType } from "../../domain/event.ts";
import { counterKeys, readCounter } from "../db/counters.ts";
import type { Db } from "../db/sql.ts";
import { type Page, type PageQuery, pageOf, rowsToFetch, rowsToSkip } from "../db/pages.ts";
import type { DeliveryRow } from "../db/schema.ts";

/** A delivery with its event. */
export interface LoggedDelivery extends DeliveryRow {
  eventId: string;
  eventType: EventType;
}

function rows(db: Db) {
  return db.selectFrom("deliveries").selectAll();
}

/** Adds the events to the chosen deliveries. Only these are joined, not the rows that an offset skips. */
function withEvents(db: Db, chosen: ReturnType<typeof rows>) {
  return db
    .selectFrom(chosen.as("delivery"))
    .innerJoin("events", "events.seq", "delivery.event_seq")
    .selectAll("delivery")
    .select(["events.id as eventId", "events.type as eventType"]);
}

/** An app's deliveries, newest first. */
export async function listDeliveries(db: Db, appId: string, page: PageQuery): Promise<Page<LoggedDelivery>> {
  let query = rows(db).where("app_id", "=", appId);
  if (page.after !== null) query = query.where("seq", "<", page.after);
  const chosen = query.orderBy("seq", "desc").limit(rowsToFetch(page)).offset(rowsToSkip(page));
  const found = await withEvents(db, chosen).orderBy("delivery.seq", "desc").execute();
  return pageOf(found, await readCounter(db, counterKeys.deliveries(appId)), page, (row) => row.seq);
}

/** The newest deliveries of an app, for the operator. */
export async function newestDeliveries(
  db: Db,
  appId: string,
  filter: { status: DeliveryStatus | null; limit: number },
): Promise<LoggedDelivery[]> {
  let query = rows(db).where("app_id", "=", appId);
  // A literal, not a parameter, so that the partial indexes are used.
  if (filter.status !== null) query = query.where("status", "=", sql.lit(filter.status));
  const chosen = query.orderBy("seq", "desc").limit(filter.limit);
  return withEvents(db, chosen).orderBy("delivery.seq", "desc").execute();
}

/** @param appId null: any app's (for the operator). */
export async function findDelivery(db: Db, appId: string | null, id: string): Promise<LoggedDelivery | undefined> {
  let query = rows(db).where("id", "=", id);
  if (appId !== null) query = query.where("app_id", "=", appId);
  return withEvents(db, query).executeTakeFirst();
}
