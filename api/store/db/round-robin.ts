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

/**
 * The due rows of a queue that come next when the apps take turns: the first row of every app, then the second of every
 * app, and so on; of one app the longest due first. The cost depends on `limit` and on the number of apps in the queue,
 * never on how many rows wait.
 * @returns a `with` clause that defines `line (app_id, at, seq, place)`, for the statement that follows it. `place` is the
 * row's place among the rows of its app, from 1 on.
 */
export function roundRobin(db: Db, queue: Queue, options: RoundRobin): RawBuilder<unknown> {
  const takesPart = options.apps === undefined ? sql`` : sql`and ${options.apps(sql`app.id`)}`;
  return engineOf(db) === "postgres" ? linesOfApps(queue, options, takesPart) : steppedLines(queue, options, takesPart);
}

/** The apps that have rows in the queue: one look into the index for each. */
function appsOf({ table: name, at: column }: Queue, start: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(name), sql.ref(column)];
  return sql`app (id) as (
      select ${start}
      union all
      select (select app_id from ${table} where ${at} is not null and app_id > app.id order by app_id, ${at}, seq limit 1)
        from app where app.id is not null
    )`;
}

/** SQLite steps through the queue in turns, and stops at the limit. */
function steppedLines(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const first = nextOfApp(queue, options, { appId: sql`app.id`, at: sql`-1`, seq: sql`0` });
  const next = nextOfApp(queue, options, { appId: sql`line.app_id`, at: sql`line.at`, seq: sql`line.seq` });
  return sql`
    with recursive ${appsOf(queue, sql`''`)}, line (app_id, at, seq, place) as (
      select app.id, head.${at}, head.seq, 1
        from app join ${table} as head on head.seq = ${first}
       where app.id <> '' ${takesPart}
      union all
      select line.app_id, follower.${at}, follower.seq, line.place + 1
        from line join ${table} as follower on follower.seq = ${next}
       where line.place < ${options.limit}
       order by 4, 2, 3 limit ${options.limit}
    )`;
}

/** PostgreSQL has no order in a recursion. It reads the first rows of every app; the statement that follows cuts. */
function linesOfApps(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const { now, longestWait, limit } = options;
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const rows = (isDue: RawBuilder<unknown>) => sql`
    (select item.${at} as at, item.seq from ${table} as item
      where item.app_id = app.id and item.${at} is not null and item.${at} ${isDue}
      order by item.${at}, item.seq limit ${limit})`;
  return sql`
    with recursive ${appsOf(queue, sql`'' collate "C"`)}, line (app_id, at, seq, place) as (
      select app.id, due.at, due.seq, row_number() over (partition by app.id order by due.at, due.seq)
        from app cross join lateral (${rows(sql`<= ${now}`)} union all ${rows(sql`> ${now + longestWait}`)}) as due
       where app.id <> '' ${takesPart}
    )`;
}

/**
 * The row number of the row of an app that is due after the given one. SQLite compares no more than the first of two columns
 * with an index if the second is the row number. So the rows with the same time are read apart from those with a later one:
 * otherwise each step would pass over all rows with the same time, and many have the time `AT_ONCE`.
 */
function nextOfApp(
  queue: Queue,
  { now, longestWait }: RoundRobin,
  row: Record<"appId" | "at" | "seq", RawBuilder<unknown>>,
): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const first = (isNext: RawBuilder<unknown>) => sql`
    (select item.seq from ${table} as item
      where item.app_id = ${row.appId} and item.${at} is not null and ${isNext}
      order by item.${at}, item.seq limit 1)`;
  // The two kinds of due rows are read apart too: one condition for both would pass over every row that still waits.
  return sql`coalesce(
    ${first(sql`item.${at} = ${row.at} and item.seq > ${row.seq}`)},
    ${first(sql`item.${at} > ${row.at} and item.${at} <= ${now}`)},
    ${first(sql`item.${at} > max(${row.at}, ${now + longestWait})`)})`;
}
