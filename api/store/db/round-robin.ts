import { type RawBuilder, sql, type SqlBool } from "kysely";

import { type Db, engineOf } from "./sql.ts";

/**
 * A queue: rows of several apps that wait for a time; null is not in the queue. The table needs an index over
 * (app_id, `at`, seq) where `at` is not null.
 */
export interface Queue {
  table: "requests" | "deliveries" | "media_jobs";
  at: "ready_at" | "next_at" | "due_at";
}

interface RoundRobin {
  now: number;
  /** No row waits longer, in milliseconds: see `isDue`. */
  longestWait: number;
  limit: number;
  /** Most rows of one app. Default: no other limit. */
  limitOfApp?: number;
  /** Which apps take part. Everything that the condition reads must have an index. */
  apps?: (appId: RawBuilder<string>) => RawBuilder<SqlBool>;
}

/**
 * The due rows of a queue that come next when the apps take turns: the first row of every app, then the second of every
 * app, and so on; of one app the longest due first. The cost depends on `limit` and on the number of apps in the queue,
 * never on how many rows wait.
 * @returns a `with` clause that defines `due (app_id, at, seq, place)`, for the statement that follows it. `place` is the
 * row's place among the rows of its app, from 1 on.
 */
export function roundRobin(db: Db, queue: Queue, options: RoundRobin): RawBuilder<unknown> {
  const takesPart = options.apps === undefined ? sql`` : sql`and ${options.apps(sql`app.id`)}`;
  return engineOf(db) === "postgres" ? turnsOfApps(queue, options, takesPart) : steppedTurns(queue, options, takesPart);
}

/** The apps that have rows in the queue: one index lookup for each. */
function appsOf({ table: name, at: column }: Queue, start: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(name), sql.ref(column)];
  return sql`app (id) as (
      select ${start}
      union all
      select (select app_id from ${table} where ${at} is not null and app_id > app.id order by app_id, ${at}, seq limit 1)
        from app where app.id is not null
    )`;
}

/** Before every time, and before every row number. PostgreSQL takes its type for that of what it is compared with. */
const BEFORE_ALL = sql`cast(-1 as bigint)`;

/** SQLite steps through the queue in turns, and stops at the limit. */
function steppedTurns(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  return sql`
    with recursive ${appsOf(queue, sql`''`)}, due (app_id, at, seq, place) as (
      select app.id, head.${at}, head.seq, 1
        from app join ${table} as head on head.seq = ${firstOfApp(queue, options, sql`max`)}
       where app.id <> '' ${takesPart}
      union all
      select due.app_id, follower.${at}, follower.seq, due.place + 1
        from due join ${table} as follower on follower.seq = ${nextOfApp(queue, options, sql`due`, sql`max`)}
       where due.place < ${Math.min(options.limit, options.limitOfApp ?? options.limit)}
       order by 4, 2, 3 limit ${options.limit}
    )`;
}

/**
 * PostgreSQL has no order in a recursion, but each of its steps is a turn of all apps. The last turn is the one that reaches
 * the limit.
 */
function turnsOfApps(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  // With the limit, the planner always looks the row up by its number.
  const row = (seq: RawBuilder<unknown>) => sql`
    lateral (select item.${at} as at, item.seq from ${table} as item where item.seq = ${seq} limit 1)`;
  return sql`
    with recursive ${appsOf(queue, sql`'' collate "C"`)}, turn (app_id, at, seq, place, so_far) as (
      select app.id, head.at, head.seq, 1, count(*) over ()
        from app cross join ${row(firstOfApp(queue, options, sql`greatest`))} as head
       where app.id <> '' ${takesPart}
      union all
      select turn.app_id, follower.at, follower.seq, turn.place + 1, turn.so_far + count(*) over ()
        from turn cross join ${row(nextOfApp(queue, options, sql`turn`, sql`greatest`))} as follower
       where turn.so_far < ${options.limit} and turn.place < ${options.limitOfApp ?? options.limit}
    ), due as (
      select app_id, at, seq, place from turn order by place, at, seq limit ${options.limit}
    )`;
}

function firstOfApp(queue: Queue, options: RoundRobin, max: RawBuilder<unknown>): RawBuilder<unknown> {
  return nextRow(queue, options, { appId: sql`app.id`, at: BEFORE_ALL, seq: BEFORE_ALL }, max);
}

function nextOfApp(
  queue: Queue,
  options: RoundRobin,
  due: RawBuilder<unknown>,
  max: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return nextRow(queue, options, { appId: sql`${due}.app_id`, at: sql`${due}.at`, seq: sql`${due}.seq` }, max);
}

/**
 * The row number of the row of an app that is due after the given one. SQLite compares no more than the first of two columns
 * with an index if the second is the row number. So the rows with the same time are read separately from those with a later one:
 * otherwise each step would pass over all rows with the same time, and many have the time `AT_ONCE`.
 */
function nextRow(
  queue: Queue,
  { now, longestWait }: RoundRobin,
  row: Record<"appId" | "at" | "seq", RawBuilder<unknown>>,
  max: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const first = (isNext: RawBuilder<unknown>) => sql`
    (select item.seq from ${table} as item
      where item.app_id = ${row.appId} and item.${at} is not null and ${isNext}
      order by item.${at}, item.seq limit 1)`;
  // The two kinds of due rows are read separately too: one condition for both would pass over every row that still waits.
  return sql`coalesce(
    ${first(sql`item.${at} = ${row.at} and item.seq > ${row.seq}`)},
    ${first(sql`item.${at} > ${row.at} and item.${at} <= ${now}`)},
    ${first(sql`item.${at} > ${max}(${row.at}, ${now + longestWait})`)})`;
}
