import { sql } from "kysely";

import { DEFAULT_EVENTS, type NamedEvent } from "../../domain/events.ts";
import { counterKeys, readCounters } from "../db/counters.ts";
import { type Db, rowSet } from "../db/sql.ts";
import { findWallets } from "../apps/wallets.ts";
import type { EventBody, GapBody, TokenCorrectionBody, TokenEventBody } from "./events.ts";
import { withUsers } from "./event-users.ts";

/** What `withUsers` adds to the event of a token. */
type Users = Record<"from_user" | "to_user", string | null>;

/** An entry of the events feed. */
export interface FeedEvent {
  position: number;
  body: EventBody | ((TokenEventBody | TokenCorrectionBody) & Users) | GapBody;
}

/** A place in the feed of an app: the position of the last event that was read. */
export interface FeedCursor {
  appId: string;
  after: number;
  /** What the reader wants to have. Default: `DEFAULT_EVENTS`. */
  types?: readonly NamedEvent[] | undefined;
}

/** The app's events after a position of its feed, oldest first. */
export async function eventsAfter(db: Db, cursor: FeedCursor, limit: number): Promise<FeedEvent[]> {
  const [page] = await feedPages(db, [cursor], limit);
  return page ?? [];
}

/** The position of the newest event of each app, in one statement. @returns 0 for an app without events. */
export async function newestPositions(db: Db, appIds: readonly string[]): Promise<number[]> {
  const newest = await readCounters(db, [...new Set(appIds)].map(counterKeys.events));
  return appIds.map((appId) => newest.get(counterKeys.events(appId)) ?? 0);
}

/**
 * The next events after each cursor, in two statements. However many events of other types lie between them, they read at most `limit`
 * positions of each type, and the bodies of the pages.
 * @param limit most events of each.
 * @returns a page for each cursor, in their order, oldest event first.
 */
export async function feedPages(db: Db, cursors: readonly FeedCursor[], limit: number): Promise<FeedEvent[][]> {
  const places = await placesAfter(db, cursors, limit);
  const bodies = await bodiesAt(db, places);
  const pages = cursors.map((): FeedEvent[] => []);
  for (const [index, { page, position }] of places.entries()) {
    const body = bodies[index];
    if (body !== undefined) pages[page]?.push({ position, body });
  }
  return pages;
}

/** Where an event of a page is. */
interface Place {
  page: number;
  app_id: string;
  position: number;
}

/** The places of the pages' events, page by page in the order of positions. */
async function placesAfter(db: Db, cursors: readonly FeedCursor[], limit: number): Promise<Place[]> {
  const wanted = rowSet(
    db,
    { page: "integer", app_id: "text", type: "text", after: "integer" },
    cursors.flatMap(({ appId, after, types = DEFAULT_EVENTS }, page) =>
      types.map((type) => ({ page, app_id: appId, type, after })),
    ),
  );
  // The last event of a type bounds the scan. A type that has fewer has no such event.
  const { rows } = await sql<Place>`
    select input.page, events.app_id, events.position
      from ${wanted} as input
      join events on events.app_id = input.app_id and events.type = input.type and events.position > input.after
       and events.position <= coalesce(
             (select last.position from events as last
               where last.app_id = input.app_id and last.type = input.type and last.position > input.after
               order by last.position limit 1 offset ${limit - 1}),
             ${Number.MAX_SAFE_INTEGER})
     order by input.page, events.position`.execute(db);
  const pages = Map.groupBy(rows, ({ page }) => page);
  return [...pages.values()].flatMap((page) => page.slice(0, limit));
}

/** The bodies of events, in the order of their places. */
async function bodiesAt(db: Db, places: readonly Place[]): Promise<FeedEvent["body"][]> {
  if (places.length === 0) return [];
  const columns = { page: "integer", app_id: "text", position: "integer" } as const;
  const { rows } = await sql<{ app_id: string; body: string }>`
    select input.app_id, events.body from ${rowSet(db, columns, places)} as input
      join events on events.app_id = input.app_id and events.position = input.position
     order by input.ord`.execute(db);
  const entries = rows.map(({ app_id: appId, body }) => ({ appId, body: JSON.parse(body) as object }));
  const bodies = await withUsers((calls) => findWallets(db, calls), entries);
  return bodies as FeedEvent["body"][];
}
