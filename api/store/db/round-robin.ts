import { type RawBuilder, sql, type SqlBool } from "kysely";

import { type Db, engineOf } from "./sql.ts";

/**
 * A queue: rows of several owners, apps or webhooks, that wait for a time; null is not in the queue. The table needs an index
 * over (`owner`, `at`, seq) where `at` is not null.
 */
export interface Queue {
  table: "requests" | "deliveries" | "media_jobs";
  owner: "app_id" | "webhook_id";
  at: "ready_at" | "next_at" | "due_at";
}

interface RoundRobin {
  now: number;
  /** No row waits longer, in milliseconds: see `isDue`. */
  longestWait: number;
  limit: number;
  /** Most rows of one owner. Default: no other limit. */
  limitOfOwner?: number;
  /** Which owners take part. Everything that the condition reads must have an index. */
  owners?: (id: RawBuilder<string>) => RawBuilder<SqlBool>;
}

/**
 * The due rows of a queue that come next when the owners take turns: the first row of every owner, then the second of every
 * owner, and so on; of one owner the longest due first. The cost depends on `limit` and on the number of owners in the queue,
 * never on how many rows wait.
 * @returns a `with` clause that defines `due (owner, at, seq, place)`, for the statement that follows it. `place` is the
 * row's place among the rows of its owner, from 1 on.
 */
export function roundRobin(db: Db, queue: Queue, options: RoundRobin): RawBuilder<unknown> {
  const takesPart = options.owners === undefined ? sql`` : sql`and ${options.owners(sql`owner.id`)}`;
  return engineOf(db) === "postgres"
    ? turnsOfOwners(queue, options, takesPart)
    : steppedTurns(queue, options, takesPart);
}

/** The owners that have rows in the queue: one index lookup for each. */
function ownersOf(queue: Queue, start: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at, id] = [sql.table(queue.table), sql.ref(queue.at), sql.ref(queue.owner)];
  return sql`owner (id) as (
      select ${start}
      union all
      select (select ${id} from ${table} where ${at} is not null and ${id} > owner.id order by ${id}, ${at}, seq limit 1)
        from owner where owner.id is not null
    )`;
}

/** Before every time, and before every row number. PostgreSQL takes its type for that of what it is compared with. */
const BEFORE_ALL = sql`cast(-1 as bigint)`;

/** SQLite steps through the queue in turns, and stops at the limit. */
function steppedTurns(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  return sql`
    with recursive ${ownersOf(queue, sql`''`)}, due (owner, at, seq, place) as (
      select owner.id, head.${at}, head.seq, 1
        from owner join ${table} as head on head.seq = ${firstOfOwner(queue, options, sql`max`)}
       where owner.id <> '' ${takesPart}
      union all
      select due.owner, follower.${at}, follower.seq, due.place + 1
        from due join ${table} as follower on follower.seq = ${nextOfOwner(queue, options, sql`due`, sql`max`)}
       where due.place < ${Math.min(options.limit, options.limitOfOwner ?? options.limit)}
       order by 4, 2, 3 limit ${options.limit}
    )`;
}

/**
 * PostgreSQL has no order in a recursion, but each of its steps is a turn of all owners. The last turn is the one that reaches
 * the limit.
 */
function turnsOfOwners(queue: Queue, options: RoundRobin, takesPart: RawBuilder<unknown>): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  // With the limit, the planner always looks the row up by its number.
  const row = (seq: RawBuilder<unknown>) => sql`
    lateral (select item.${at} as at, item.seq from ${table} as item where item.seq = ${seq} limit 1)`;
  return sql`
    with recursive ${ownersOf(queue, sql`'' collate "C"`)}, turn (owner, at, seq, place, so_far) as (
      select owner.id, head.at, head.seq, 1, count(*) over ()
        from owner cross join ${row(firstOfOwner(queue, options, sql`greatest`))} as head
       where owner.id <> '' ${takesPart}
      union all
      select turn.owner, follower.at, follower.seq, turn.place + 1, turn.so_far + count(*) over ()
        from turn cross join ${row(nextOfOwner(queue, options, sql`turn`, sql`greatest`))} as follower
       where turn.so_far < ${options.limit} and turn.place < ${options.limitOfOwner ?? options.limit}
    ), due as (
      select owner, at, seq, place from turn order by place, at, seq limit ${options.limit}
    )`;
}

function firstOfOwner(queue: Queue, options: RoundRobin, max: RawBuilder<unknown>): RawBuilder<unknown> {
  return nextRow(queue, options, { owner: sql`owner.id`, at: BEFORE_ALL, seq: BEFORE_ALL }, max);
}

function nextOfOwner(
  queue: Queue,
  options: RoundRobin,
  due: RawBuilder<unknown>,
  max: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return nextRow(queue, options, { owner: sql`${due}.owner`, at: sql`${due}.at`, seq: sql`${due}.seq` }, max);
}

/**
 * The row number of the row of an owner that is due after the given one. SQLite compares no more than the first of two columns
 * with an index if the second is the row number. So the rows with the same time are read separately from those with a later one:
 * otherwise each step would pass over all rows with the same time, and many have the time `AT_ONCE`.
 */
function nextRow(
  queue: Queue,
  { now, longestWait }: RoundRobin,
  row: Record<"owner" | "at" | "seq", RawBuilder<unknown>>,
  max: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const [table, at] = [sql.table(queue.table), sql.ref(queue.at)];
  const first = (isNext: RawBuilder<unknown>) => sql`
    (select item.seq from ${table} as item
      where item.${sql.ref(queue.owner)} = ${row.owner} and item.${at} is not null and ${isNext}
      order by item.${at}, item.seq limit 1)`;
  // The two kinds of due rows are read separately too: one condition for both would pass over every row that still waits.
  return sql`coalesce(
    ${first(sql`item.${at} = ${row.at} and item.seq > ${row.seq}`)},
    ${first(sql`item.${at} > ${row.at} and item.${at} <= ${now}`)},
    ${first(sql`item.${at} > ${max}(${row.at}, ${now + longestWait})`)})`;
}
