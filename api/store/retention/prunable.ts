import { type RawBuilder, sql } from "kysely";

import type { Removed } from "../../domain/retention.ts";
import { type Db, forUpdateSkipLocked, textSet, type Trx } from "../db/sql.ts";
import { isOutage } from "../db/parked-rows.ts";

/** What one step has removed. */
export interface PruneStep extends Removed {
  /** Whether more rows may be old. */
  more: boolean;
}

/** Which rows a step takes. */
export interface PruneLimits {
  /** Most rows of the step. */
  most: number;
  /** Keys of rows that are parked. */
  without: readonly string[];
}

/** Thrown by a step of one row whose deletion fails. */
export class RowNotPruned extends Error {
  override readonly name = "RowNotPruned";
  /** Names the row among those of its kind. */
  readonly key: string;

  constructor(key: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.key = key;
  }
}

/**
 * One kind of row that is pruned when it is old. A step is short, so that it never holds the write lock of SQLite for long, and
 * complete: a process that dies between two steps leaves nothing half done.
 */
export interface Prunable {
  /** Counts the rows that are old. */
  count(db: Db, before: number): Promise<Removed>;
  /** Removes the oldest of them. @throws RowNotPruned */
  prune(trx: Trx, before: number, limits: PruneLimits): Promise<PruneStep>;
  /** Rows of one step, which takes some milliseconds. */
  step: number;
}

export const NOTHING: PruneStep = { rows: 0, bytes: 0, more: false };

/** @param from a part of a statement that begins after `from`. @param bytes of one row. */
export async function countRows(db: Db, from: RawBuilder<unknown>, bytes: RawBuilder<unknown>): Promise<Removed> {
  const { rows } = await sql<Removed>`
    select count(*) as rows, cast(coalesce(sum(${bytes}), 0) as bigint) as bytes from ${from}`.execute(db);
  return rows[0] ?? NOTHING;
}

export function sumOf(rows: readonly { bytes: number }[], most: number): PruneStep {
  return {
    rows: rows.length,
    bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0),
    more: rows.length >= most,
  };
}

/** Rows of most steps. */
export const STEP = 500;

interface Kind<Row> {
  table: string;
  /** Which rows are old: a condition. */
  isOld: (before: number) => RawBuilder<unknown>;
  /** When a row became old. An index has it. */
  age: RawBuilder<unknown>;
  /** The row's key, as text. */
  key: RawBuilder<unknown>;
  /** The columns that `remove` needs. */
  columns: RawBuilder<unknown>;
  /** About what a row takes, with its entries in indexes. */
  bytes: RawBuilder<unknown>;
  step?: number;
  remove: (trx: Trx, rows: readonly Row[]) => Promise<void>;
}

/** Old rows of one table, which nothing refers to. */
export function prunableRows<Row>(kind: Kind<Row>): Prunable {
  const { table, age, key, columns, bytes, step = STEP } = kind;
  const old = (before: number) => sql`${sql.table(table)} where ${kind.isOld(before)}`;
  return {
    count: (db, before) => countRows(db, old(before), bytes),
    step,
    prune: async (trx, before, limits) => {
      const { rows } = await sql<Row & { row_key: string; bytes: number }>`
        select ${columns}, ${key} as row_key, ${bytes} as bytes from ${old(before)} ${notParked(trx, key, limits)}
         order by ${age} limit ${limits.most} ${forUpdateSkipLocked(trx, table)}`.execute(trx);
      if (rows.length === 0) return NOTHING;
      await removing(rows, () => kind.remove(trx, rows));
      return sumOf(rows, limits.most);
    },
  };
}

/** A condition, after others, that leaves out parked rows. @param key the row's key, as text. */
export function notParked(trx: Trx, key: RawBuilder<unknown>, { without }: PruneLimits): RawBuilder<unknown> {
  if (without.length === 0) return sql``;
  return sql`and ${key} not in ${textSet(trx, without)}`;
}

/** Removes the rows of a step. @throws RowNotPruned when it is a single row and the cause may be the row */
export async function removing(rows: readonly { row_key: string }[], remove: () => Promise<void>): Promise<void> {
  try {
    await remove();
  } catch (error) {
    const [row] = rows;
    if (row === undefined || rows.length > 1 || isOutage(error)) throw error;
    throw new RowNotPruned(row.row_key, error);
  }
}
