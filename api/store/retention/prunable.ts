import { type RawBuilder, sql } from "kysely";

import type { Removed } from "../../domain/retention.ts";
import type { Db, Trx } from "../db/engine.ts";

/** What one step has removed. */
export interface PruneStep extends Removed {
  /** Whether more rows may be old. */
  more: boolean;
}

/**
 * One kind of row that is pruned when it is old. A step is short, so that it never holds the write lock of SQLite for long, and
 * complete: a process that dies between two steps leaves nothing half done.
 */
export interface Prunable {
  /** Counts the rows that are old. */
  count(db: Db, before: number): Promise<Removed>;
  /** Removes the oldest of them. */
  prune(trx: Trx, before: number): Promise<PruneStep>;
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
