import type { Expression, ExpressionBuilder, SqlBool } from "kysely";

/** A time that is always due. */
export const AT_ONCE = 0;

/** Longest wait of the relayer, in milliseconds. */
export const LONGEST_WAIT = 600_000;

/**
 * Whether a stored time is due. A time further ahead than the longest wait was stored before the clock was set back. It
 * counts as due; otherwise its row would wait until the wrong time comes.
 */
export function isDue(at: number, now: number, longestWait: number): boolean {
  return at <= now || at > now + longestWait;
}

/** `isDue` as a condition of a query. A null column is never due. */
export function whenDue<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Expression<number | null>,
  now: number,
  longestWait: number,
): Expression<SqlBool> {
  return eb.or([eb(column, "<=", now), eb(column, ">", now + longestWait)]);
}
