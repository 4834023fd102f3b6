import BetterSqlite3 from "better-sqlite3";
import { type RawBuilder, sql, type SqlBool } from "kysely";

import { type Backoff, backoff } from "../../domain/backoff.ts";
import { PARKED_KINDS, type ParkedKind } from "../../domain/conditions.ts";
import { LeaseLost } from "../../shared/lease.ts";
import { DatabaseError, isOfServer } from "./errors.ts";
import { LONGEST_WAIT } from "./due.ts";
import type { Tables } from "./schema.ts";
import { type Db, rowSet, textSet, type Trx } from "./sql.ts";

/*
 * A row whose work always fails must not stop the others. Its worker parks it: it writes why into `parked_rows`, and tries
 * the row again after a growing wait. The row itself stays in its queue, with a later time, so nothing is lost. The indexer and
 * the pruner put no row aside: they stop at it, and name it here.
 */

/** Wait before a parked row is tried again, in milliseconds. */
const WAIT = { first: 60_000, longest: LONGEST_WAIT };
/** Characters of an error that are stored. */
const LONGEST_REASON = 300;

/** The role of PostgreSQL that copies media may write only its own table. Both have the same columns. */
const TABLES = ["parked_rows", "media_parked_rows"] as const;

function tableOf(kind: ParkedKind): RawBuilder<unknown> {
  return sql.table(kind === "media_job" ? "media_parked_rows" : "parked_rows");
}

/** The rows of all kinds, as a table expression. */
export function allParked(): RawBuilder<unknown> {
  const parts = TABLES.map((table) => sql`select kind, id, reason, tries, since, next_at from ${sql.table(table)}`);
  return sql`(${sql.join(parts, sql` union all `)})`;
}

/** A row and what its work threw. */
export interface FailedRow {
  id: string;
  error: unknown;
}

/** A row that was parked. @param nextAt when it is tried again, in milliseconds since 1970. */
export interface ParkedRow extends FailedRow {
  tries: number;
  nextAt: number;
}

/** Parks rows. The caller also moves them in their queue to the times that it gets. */
export async function parkRows(
  trx: Trx,
  kind: ParkedKind,
  failed: readonly FailedRow[],
  now: number,
  wait: Backoff = WAIT,
): Promise<ParkedRow[]> {
  if (failed.length === 0) return [];
  const { rows: earlier } = await sql<{ id: string; tries: number }>`
    select id, tries from ${tableOf(kind)} where kind = ${kind} and id in ${idSet(trx, failed)}`.execute(trx);
  const triesOf = new Map(earlier.map(({ id, tries }) => [id, tries]));
  const parked = failed.map(({ id, error }) => {
    const tries = (triesOf.get(id) ?? 0) + 1;
    return { id, error, tries, nextAt: now + backoff(wait, tries - 1) };
  });
  const rows = parked.map(({ id, error, tries, nextAt }) => ({ id, reason: reasonOf(error), tries, next_at: nextAt }));
  const columns = { id: "text", reason: "text", tries: "integer", next_at: "integer" } as const;
  await sql`
    insert into ${tableOf(kind)} (kind, id, reason, tries, since, next_at)
    select ${kind}, id, reason, tries, ${now}, next_at from ${rowSet(trx, columns, rows)} as input where true
    on conflict (kind, id) do update
       set reason = excluded.reason, tries = excluded.tries, next_at = excluded.next_at`.execute(trx);
  return parked;
}

/** The work on these rows succeeded, or is over. Those that were not parked need nothing. */
export async function unparkRows(trx: Trx, kind: ParkedKind, rows: readonly { id: string }[]): Promise<void> {
  if (rows.length === 0) return;
  await sql`delete from ${tableOf(kind)} where kind = ${kind} and id in ${idSet(trx, rows)}`.execute(trx);
}

/** Of this kind only these rows fail. */
export async function unparkAll(trx: Trx, kind: ParkedKind, except: readonly { id: string }[] = []): Promise<void> {
  await sql`delete from ${tableOf(kind)} where kind = ${kind} and id not in ${idSet(trx, except)}`.execute(trx);
}

function idSet(trx: Trx, rows: readonly { id: string }[]) {
  return textSet(
    trx,
    rows.map(({ id }) => id),
  );
}

/** A condition: the row is not parked, or it is time to try it again. @param id the column that has the row's id */
export function mayBeTried(kind: ParkedKind, id: RawBuilder<unknown>, now: number): RawBuilder<SqlBool> {
  return sql<SqlBool>`not exists (select 1 from ${tableOf(kind)} as parked
     where parked.kind = ${sql.lit(kind)} and parked.id = ${id} and parked.next_at > ${now})`;
}

/** The parked rows of a kind. */
export function parkedOf(db: Db, kind: ParkedKind): Promise<{ id: string; next_at: number }[]> {
  return sql<{ id: string; next_at: number }>`
    select id, next_at from ${tableOf(kind)} where kind = ${kind}`
    .execute(db)
    .then(({ rows }) => rows);
}

/** A row that was not tried again for this long is gone, because something else ended its work. In milliseconds. */
const FORGET_AFTER = 86_400_000;

/** Forgets rows that are gone. Metadata that version 0.3.0 could not store is not tried again by itself: `reconcile` stores it. */
export async function forgetParked(trx: Trx, now: number): Promise<void> {
  for (const table of TABLES)
    await sql`
      delete from ${sql.table(table)} where next_at < ${now - FORGET_AFTER} and kind <> 'metadata'`.execute(trx);
}

/** Parked rows, the longest parked first. */
export async function firstParked(db: Db, limit: number): Promise<Tables["parked_rows"][]> {
  const { rows } = await sql<Tables["parked_rows"]>`
    select * from ${allParked()} as parked order by since, kind, id limit ${limit}`.execute(db);
  return rows;
}

/** How many rows of each kind are parked. */
export async function countParked(db: Db): Promise<Record<ParkedKind, number>> {
  const { rows } = await sql<{ kind: ParkedKind; count: number }>`
    select kind, count(*) as count from ${allParked()} as parked group by kind`.execute(db);
  const counts = new Map(rows.map(({ kind, count }) => [kind, count]));
  return Object.fromEntries(PARKED_KINDS.map((kind) => [kind, counts.get(kind) ?? 0])) as Record<ParkedKind, number>;
}

/** The error of a row as it is stored. */
function reasonOf(error: unknown): string {
  const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return words.slice(0, LONGEST_REASON);
}

/** PostgreSQL's errors that come from values: bad data, a constraint, a trigger, a limit that a value exceeds. */
const POSTGRES_VALUES = /^(22|23|54|P0)/;
/** The same of SQLite. ERROR includes JSON that is not valid. */
const SQLITE_VALUES = /^SQLITE_(CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG)/;

/**
 * Whether an error says nothing about the rows that were worked on: the database or the disk is away, or another process has
 * taken the work over. Any other error may come from a single row.
 */
export function isOutage(error: unknown): boolean {
  if (error instanceof DatabaseError || error instanceof LeaseLost) return true;
  if (error instanceof BetterSqlite3.SqliteError) return !SQLITE_VALUES.test(error.code);
  if (isOfServer(error)) return !POSTGRES_VALUES.test(error.code ?? "");
  return error instanceof Error && "errno" in error && "syscall" in error;
}

/** Changes rows of jobs. When the database refuses one of them, the error names them, so that an operator can mend it. */
export async function namingRows<T>(table: string, ids: readonly string[], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (isOutage(error)) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`the database refuses a change of ${table} ${ids.join(", ")}: ${reason}`, { cause: error });
  }
}
