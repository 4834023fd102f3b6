import { sql } from "kysely";

import { counterKeys, readCounters } from "../db/counters.ts";
import { type Db, rowSet } from "../db/sql.ts";
import { findWallets } from "../apps/wallets.ts";
import type { EventBody } from "./events.ts";
import { withUsers } from "./event-users.ts";

/** An entry of the events feed. */
export interface FeedEvent {
  position: number;
  body: EventBody;
}

/** A place in the feed of an app: the position of the last event that was read. */
export interface FeedCursor {
  appId: string;
  after: number;
}

/** The app's events after a position of its feed, oldest first. */
export async function eventsAfter(db: Db, appId: string, after: number, limit: number): Promise<FeedEvent[]> {
  const [page] = await feedPages(db, [{ appId, after }], limit);
  return page ?? [];
}

/** The position of the newest event of each app, in one statement. @returns 0 for an app without events. */
export async function newestPositions(db: Db, appIds: readonly string[]): Promise<number[]> {
  const newest = await readCounters(db, [...new Set(appIds)].map(counterKeys.events));
  return appIds.map((appId) => newest.get(counterKeys.events(appId)) ?? 0);
}

/**
 * The next events after each cursor, in one statement.
 * @param limit most events of each.
 * @returns a page for each cursor, in their order, oldest event first.
 */
export async function feedPages(db: Db, cursors: readonly FeedCursor[], limit: number): Promise<FeedEvent[][]> {
  const wanted = rowSet(
    db,
    { app_id: "text", after: "integer" },
    cursors.map(({ appId, after }) => ({ app_id: appId, after })),
  );
  // The last event of a page bounds the scan. A page that is not full has no such event.
  const { rows } = await sql<{ ord: number; position: number; body: string }>`
    select input.ord, events.position, events.body
      from ${wanted} as input
      join events on events.app_id = input.app_id and events.position > input.after
       and events.position <= coalesce(
             (select page.position from events as page
               where page.app_id = input.app_id and page.position > input.after
               order by page.position limit 1 offset ${limit - 1}),
             ${Number.MAX_SAFE_INTEGER})
     order by input.ord, events.position`.execute(db);
  const entries = rows.map(({ ord, body }) => ({
    appId: cursors[ord]?.appId ?? "",
    body: JSON.parse(body) as EventBody,
  }));
  const bodies = await withUsers((calls) => findWallets(db, calls), entries);
  const pages = cursors.map((): FeedEvent[] => []);
  for (const [index, body] of bodies.entries()) {
    const { ord = 0, position = 0 } = rows[index] ?? {};
    pages[ord]?.push({ position, body });
  }
  return pages;
}
