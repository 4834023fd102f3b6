import { type RawBuilder, sql } from "kysely";

import type { PrunedKind, Removed } from "../../domain/retention.ts";
import { KEEP_SERIES, bucketOf } from "../../domain/series.ts";
import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { isOutage } from "../db/parked-rows.ts";
import { type Db, forUpdateSkipLocked, integerSet, lockLedger, rowSet, type Trx } from "../db/sql.ts";

/** A row that is old, with the columns of its key, and what its removal frees. */
type OldRow = Record<string, string | number> & { freed: number; bytes: number };

/** One kind of row that is deleted when it is old. */
interface Kind {
  table: string;
  key: Readonly<Record<string, "text" | "integer">>;
  /** Which rows are old: a condition. */
  isOld: (before: number) => RawBuilder<unknown>;
  /** When a row became old. An index has it. */
  age: RawBuilder<unknown>;
  /** Rows that the removal of one row frees. Default: itself. */
  freed?: RawBuilder<unknown>;
  /** About what they take, with their entries in indexes. */
  bytes: RawBuilder<unknown>;
  /** Most rows of one step, which takes some milliseconds. Default: 500. */
  step?: number;
  /** Default: deletes the rows. @returns the rows that were removed. */
  remove?: (trx: Trx, rows: readonly OldRow[], before: number) => Promise<readonly OldRow[]>;
}

/** Rows whose key is their id. @param age when a row stopped being of use, in milliseconds. */
function byId(table: string, age: RawBuilder<unknown>, bytes: RawBuilder<unknown>): Kind {
  return { table, key: { id: "text" }, isOld: (before) => sql`${age} < ${before}`, age, bytes };
}

/** Deliveries that will not be sent again by themselves. The status is part of the text, so that its index is used. */
function deliveriesIn(status: "delivered" | "failed"): Kind {
  return {
    table: "deliveries",
    key: { seq: "integer" },
    isOld: (before) => sql`status = ${sql.lit(status)} and updated_at < ${before}`,
    age: sql`updated_at`,
    bytes: sql`length(id) * 2 + length(app_id) + length(webhook_id) * 3 + coalesce(length(request_id), 0) + coalesce(length(response_body), 0) + 60`,
    remove: async (trx, rows) => {
      await deleteDeliveries(trx, sql`seq in ${seqsOf(trx, rows)}`);
      return rows;
    },
  };
}

async function deleteDeliveries(trx: Trx, which: RawBuilder<unknown>): Promise<void> {
  const { rows } = await sql<{
    webhook_id: string;
  }>`delete from deliveries where ${which} returning webhook_id`.execute(trx);
  const counters = new CounterDeltas();
  for (const { webhook_id } of rows) counters.add(counterKeys.deliveries(webhook_id), -1);
  await counters.flush(trx);
}

function seqsOf(trx: Trx, rows: readonly OldRow[]): RawBuilder<unknown> {
  return integerSet(
    trx,
    rows.map(({ seq }) => Number(seq)),
  );
}

/** An event that still waits to be delivered is kept. */
function isOldTest(before: number): RawBuilder<unknown> {
  return sql`type = 'test' and created_at < ${before}
   and not exists (select 1 from deliveries where deliveries.event_seq = events.seq and deliveries.status = 'pending')`;
}

/**
 * Parts of batches that no roll-back can open again: their block is final, lies below the headers that the indexer compares with the
 * chain, and shows which of their calls ran. The cost is known and shared among the requests. While the chain shows a
 * transaction that this database does not know, nothing is pruned: `reconcile` may have to go back further. A batch may carry
 * hundreds of requests, and its transaction takes tens of kilobytes.
 */
function ofBatches(
  part: "keeps_raw" | "keeps_items",
  which: RawBuilder<unknown>,
  bytes: RawBuilder<unknown>,
  remove: RawBuilder<unknown>,
): Kind {
  return {
    table: "batches",
    key: { id: "integer" },
    isOld: (before) => sql`${sql.ref(part)} = 1 and ran = 1 and fee_wei is not null and created_at < ${before}
     and block_number < (select min(number) from blocks)
     and block_number <= (select cast(value as bigint) from meta where key = 'confirmed_block')
     and not exists (select 1 from meta where key = 'unknown_transaction')`,
    age: sql`created_at`,
    freed: sql`(select count(*) from ${which})`,
    bytes: sql`(select coalesce(sum(${bytes}), 0) from ${which})`,
    step: 10,
    remove: async (trx, rows) => {
      const ids = () =>
        integerSet(
          trx,
          rows.map(({ id }) => Number(id)),
        );
      await sql`${remove} where batch_id in ${ids()}`.execute(trx);
      await sql`update batches set ${sql.ref(part)} = 0 where id in ${ids()}`.execute(trx);
      return rows;
    },
  };
}

const KINDS: Readonly<Record<PrunedKind, Kind>> = {
  deliveries: deliveriesIn("delivered"),
  failed_deliveries: deliveriesIn("failed"),
  /** Test events are not in the feed. They go with all their deliveries. */
  test_events: {
    table: "events",
    key: { seq: "integer" },
    isOld: isOldTest,
    age: sql`created_at`,
    bytes: sql`length(id) * 2 + length(app_id) + length(body) + 60`,
    remove: async (trx, locked, before) => {
      // Asked again: on PostgreSQL, a delivery may have been added after the first statement began and before it locked the event.
      const { rows } = await sql<{ seq: number }>`
        select seq from events where ${isOldTest(before)} and seq in ${seqsOf(trx, locked)}`.execute(trx);
      const seqs = new Set(rows.map(({ seq }) => seq));
      const still = locked.filter(({ seq }) => seqs.has(Number(seq)));
      await deleteDeliveries(trx, sql`event_seq in ${seqsOf(trx, still)}`);
      await sql`delete from events where seq in ${seqsOf(trx, still)}`.execute(trx);
      return still;
    },
  },
  /** The signed bytes, also of attempts that were replaced. Their hashes and fees stay. */
  raw_transactions: ofBatches(
    "keeps_raw",
    sql`attempts where batch_id = batches.id and raw is not null`,
    sql`length(raw)`,
    sql`update attempts set raw = null`,
  ),
  /** Which requests they carried. The transaction on chain has their numbers, and each request has its costs. */
  batch_items: ofBatches(
    "keeps_items",
    sql`batch_items where batch_id = batches.id`,
    sql`length(request_id) + 40`,
    sql`delete from batch_items`,
  ),
  console_sessions: byId(
    "console_sessions",
    sql`expires_at`,
    sql`length(id) * 2 + length(code_hash) * 2 + coalesce(length(hash), 0) * 2 + length(scopes) + 100`,
  ),
  /**
   * Long answers of calls that have finished: those of batches, with one result for each item. The key and its fingerprint stay,
   * so a repeated call is recognised and does not run again. An empty text says that the answer was here.
   */
  batch_answers: {
    table: "idempotency_keys",
    key: { app_id: "text", key: "text" },
    // The condition of the index `idempotency_keys_long`. The answer to a call that creates one thing is shorter.
    isOld: (before) => sql`length(response) > 2000 and created_at < ${before}`,
    age: sql`created_at`,
    bytes: sql`length(response)`,
    // An answer can have 350 kB.
    step: 50,
    remove: async (trx, rows) => {
      const keys = rowSet<string>(trx, { app_id: "text", key: "text" }, rows);
      await sql`
        update idempotency_keys set response = ''
         where (app_id, key) in (select app_id, key from ${keys} as input)`.execute(trx);
      return rows;
    },
  },
  /** A call with such a token gets 401 as before: the service does not know it. */
  api_tokens: byId(
    "api_tokens",
    // When a token stopped working; null: it still works. The index `api_tokens_ended` has the same expression.
    sql`(case when expires_at is null or revoked_at < expires_at then revoked_at else expires_at end)`,
    sql`length(id) * 2 + length(app_id) * 2 + length(name) + length(hash) * 2 + length(scopes) + 60`,
  ),
};

async function deleteRows(trx: Trx, { table, key }: Kind, rows: readonly OldRow[]): Promise<readonly OldRow[]> {
  const columns = sql.join(Object.keys(key).map((name) => sql.ref(name)));
  const keys = rowSet(trx, key, rows);
  await sql`delete from ${sql.table(table)} where ${columns} in (select ${columns} from ${keys} as input)`.execute(trx);
  return rows;
}

/** How old a row must be. `now` in milliseconds since 1970. */
interface Age {
  now: number;
  days: number;
}

/** Counts what is old, and changes nothing. */
export async function countOld(db: Db, kind: PrunedKind, age: Age): Promise<Removed> {
  const { table, isOld, freed = sql`1`, bytes } = KINDS[kind];
  const { rows } = await sql<Removed>`
    select cast(coalesce(sum(freed), 0) as bigint) as rows, cast(coalesce(sum(bytes), 0) as bigint) as bytes
      from (select ${freed} as freed, ${bytes} as bytes from ${sql.table(table)}
             where ${isOld(await limitOf(db, kind, age))}) as old`.execute(db);
  return rows[0] ?? { rows: 0, bytes: 0 };
}

/** Thrown by a step of one row that the database does not remove. It names the row. */
export class RowNotPruned extends Error {
  override readonly name = "RowNotPruned";
  /** Names the row among all that are pruned. */
  readonly id: string;

  constructor(kind: PrunedKind, table: string, key: string, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    super(
      `the row ${key} of ${table} cannot be removed (${reason}): nothing else of the kind ${kind} is removed until it can`,
      {
        cause,
      },
    );
    this.id = `${kind} ${key}`;
  }
}

/**
 * Removes the oldest rows of a kind: one step of many. A step is short, so that it never holds the write lock of SQLite for long, and
 * complete: a process that dies between two steps leaves nothing half done.
 * @param most rows of the step, if they are fewer than usual.
 * @returns what was removed, and whether more rows may be old. @throws RowNotPruned if the step is a single row
 */
export async function pruneSome(
  trx: Trx,
  kind: PrunedKind,
  age: Age,
  most = Infinity,
): Promise<Removed & { more: boolean }> {
  const { table, key, isOld, age: order, freed = sql`1`, bytes, step = 500, remove } = KINDS[kind];
  const limit = Math.min(step, most);
  const before = await limitOf(trx, kind, age);
  // A roll-back that runs at the same time would read the items of batches.
  if (table === "batches") await lockLedger(trx);
  const columns = sql.join(Object.keys(key).map((name) => sql.ref(name)));
  const { rows } = await sql<OldRow>`
    select ${columns}, ${freed} as freed, ${bytes} as bytes from ${sql.table(table)} where ${isOld(before)}
     order by ${order} limit ${limit} ${forUpdateSkipLocked(trx, table)}`.execute(trx);
  const [first] = rows;
  if (first === undefined) return { rows: 0, bytes: 0, more: false };
  try {
    const removed = await (remove?.(trx, rows, before) ?? deleteRows(trx, KINDS[kind], rows));
    const sum = (of: "freed" | "bytes") => removed.reduce((total, row) => total + row[of], 0);
    return { rows: sum("freed"), bytes: sum("bytes"), more: rows.length >= limit };
  } catch (error) {
    if (rows.length > 1 || isOutage(error)) throw error;
    const name = Object.keys(key).map((column) => String(first[column]));
    throw new RowNotPruned(kind, table, name.join(" "), error);
  }
}

const DAY = 86_400_000;

/**
 * The time before which rows are old. A clock that runs far ahead must not make a repeated call lose its answer. So for answers the
 * time of the newest block counts if it is earlier, and answers to calls that have not finished stay.
 */
async function limitOf(db: Db, kind: PrunedKind, { now, days }: Age): Promise<number> {
  if (kind !== "batch_answers") return now - days * DAY;
  const newest = await db
    .selectFrom("blocks")
    .select("timestamp")
    .orderBy("number", "desc")
    .limit(1)
    .executeTakeFirst();
  return finishedBefore(db, Math.min(now, newest?.timestamp ?? 0) - days * DAY);
}

/** Requests that were accepted at the same time, by processes whose clocks differ, are not in the order of their times. */
const MARGIN = 3_600_000;

/**
 * The time, at most `limit`, before which all calls have finished. A key has the time of its request, so all keys before the
 * oldest request that is not final belong to such calls.
 */
async function finishedBefore(db: Db, limit: number): Promise<number> {
  const { rows } = await sql<{ open: number | null }>`
    select min(request.created_at) as open
      from (select (select min(seq) from requests where app_id = apps.id and status = 'pending') as seq from apps
            union all
            select (select min(seq) from requests where app_id = apps.id and status = 'processing') from apps) as oldest
      join requests as request on request.seq = oldest.seq`.execute(db);
  const open = rows[0]?.open ?? null;
  return open === null ? limit : Math.min(limit, open - MARGIN);
}

/** Deletes the buckets of the charts that no answer can show any more. */
export async function pruneSeries(trx: Trx, now: number): Promise<void> {
  await sql`
    delete from counters
     where key >= ${counterKeys.series(0, "")} and key < ${counterKeys.series(bucketOf(now - KEEP_SERIES), "")}`.execute(
    trx,
  );
}
