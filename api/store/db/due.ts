import type { Expression, ExpressionBuilder, SqlBool } from "kysely";

/** Due at any time, whatever the clock says. */
export const AT_ONCE = 0;

/** No wait of the relayer is longer, in milliseconds. */
export const LONGEST_WAIT = 600_000;

/**
 * Whether a stored time has come. One that lies further ahead than anything ever waits was stored by a clock that has
 * been set back since: it counts as come, or its row would wait as long as the clock was wrong.
 */
export function isDue(at: number, now: number, longestWait: number): boolean {
  return at <= now || at > now + longestWait;
}

/** The same as a condition of a query, for a column that may be null (never due). */
export function whenDue<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  column: Expression<number | null>,
  now: number,
  longestWait: number,
): Expression<SqlBool> {
  return eb.or([eb(column, "<=", now), eb(column, ">", now + longestWait)]);
}
