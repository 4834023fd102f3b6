import { type RawBuilder, sql, type SqlBool } from "kysely";

import { type Db, engineOf } from "./engine.ts";

/**
 * A queue: rows of several apps that wait for a time; null is not in the queue. The table needs an index over
 * (app_id, `at`, seq) where `at` is not null.
 */
export interface Queue {
  table: "requests" | "deliveries" | "media_jobs";
  at: "ready_at" | "next_at" | "due_at";
}

export interface RoundRobin {
  now: number;
  /** No row waits longer, in milliseconds: see `isDue`. */
  longestWait: number;
  limit: number;
  /** Which apps take part. Everything that the condition reads must have an index. */
  apps?: (appId: RawBuilder<string>) => RawBuilder<SqlBool>;
}

/** Above every row number. */
const AFTER_EVERY_ROW = Number.MAX_SAFE_INTEGER;

/**
 * The due rows of a queue that come next when the apps take turns: the first row of every app, then the second of every
 * app, and so on; of one app the longest due first. The cost depends on `limit` and on the number of apps in the queue,
 * never on how many rows wait: each step is one look into the index.
 * @returns a `with` clause that defines `line (app_id, at, seq, place)`, for the statement that follows it. `place` is the
 * row's place among the rows of its app, from 1 on.
 */
export function roundRobin(db: Db, queue: Queue, options: RoundRobin): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const { limit } = options;
  const takesPart = options.apps === undefined ? sql`` : sql`and ${options.apps(sql`app.id`)}`;
  const first = nextOfApp(queue, options, { appId: sql`app.id`, at: sql`-1`, seq: sql`0` });
  const next = nextOfApp(queue, options, { appId: sql`line.app_id`, at: sql`line.at`, seq: sql`line.seq` });
  // SQLite steps through the queue in this order and stops. PostgreSQL has no order in a recursion: every app's line is
  // followed up to the limit there, and the statement that follows sorts and cuts.
  const inTurns = engineOf(db) === "sqlite" ? sql`order by 4, 2, 3 limit ${limit}` : sql``;
  return sql`
    with recursive app (id) as (
      select ''
      union all
      select (select app_id from ${table} where ${at} is not null and app_id > app.id order by app_id, ${at}, seq limit 1)
        from app where app.id is not null
    ), line (app_id, at, seq, place) as (
      select app.id, head.${at}, head.seq, 1
        from app join ${table} as head on head.seq = ${first}
       where app.id <> '' ${takesPart}
      union all
      select line.app_id, follower.${at}, follower.seq, line.place + 1
        from line join ${table} as follower on follower.seq = ${next}
       where line.place < ${limit}
      ${inTurns}
    )`;
}

/** The row number of the row of an app that is due after the given one. */
function nextOfApp(
  queue: Queue,
  { now, longestWait }: RoundRobin,
  row: Record<"appId" | "at" | "seq", RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const horizon = now + longestWait;
  const isBeyond = sql`${row.at} > ${horizon}`;
  // The two kinds of due rows are read apart: one condition for both would pass over every row that still waits.
  return sql`coalesce(
    (select item.seq from ${table} as item
      where item.app_id = ${row.appId} and item.${at} is not null and item.${at} <= ${now}
        and (item.${at}, item.seq) > (${row.at}, ${row.seq})
      order by item.${at}, item.seq limit 1),
    (select item.seq from ${table} as item
      where item.app_id = ${row.appId} and item.${at} is not null
        and (item.${at}, item.seq) > (case when ${isBeyond} then ${row.at} else ${horizon} end,
                                      case when ${isBeyond} then ${row.seq} else ${AFTER_EVERY_ROW} end)
      order by item.${at}, item.seq limit 1))`;
}
