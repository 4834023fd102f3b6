import { sql } from "kysely";

import { rowSet, type Trx } from "../db/sql.ts";

/** Calls of one token or address, in a window that ends at a time. */
export interface RateCount {
  key: string;
  used: number;
  /** Milliseconds since 1970. */
  endsAt: number;
}

/**
 * Adds calls that a process has counted to the totals of all processes. A window that is over begins again.
 * @param window its length in milliseconds. A window that ends much later is from before a clock was set back.
 * @returns the totals, with the ends of their windows.
 */
export async function addCalls(
  trx: Trx,
  counts: readonly RateCount[],
  { now, window }: { now: number; window: number },
): Promise<RateCount[]> {
  await trx
    .deleteFrom("rate_counts")
    .where("ends_at", "<", now - window)
    .execute();
  const input = rowSet(
    trx,
    { key: "text", used: "integer", ends_at: "integer" },
    // In one order everywhere, so that processes that add to the same keys do not lock each other out.
    counts.map(({ key, used, endsAt }) => ({ key, used, ends_at: endsAt })).sort((a, b) => (a.key < b.key ? -1 : 1)),
  );
  const isOver = sql`(rate_counts.ends_at <= ${now} or rate_counts.ends_at > ${now + 2 * window})`;
  const { rows } = await sql<RateCount>`
    insert into rate_counts (key, used, ends_at)
    select key, used, ends_at from ${input} as input where true order by ord
    on conflict (key) do update set
      used = case when ${isOver} then excluded.used else rate_counts.used + excluded.used end,
      ends_at = case when ${isOver} then excluded.ends_at else rate_counts.ends_at end
    returning key as "key", used as "used", ends_at as "endsAt"`.execute(trx);
  return rows;
}
