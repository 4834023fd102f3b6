/** A time that is always due. */
export const AT_ONCE = 0;

/** Longest wait of requests, media jobs and parked rows, in milliseconds. */
export const LONGEST_WAIT = 600_000;

/**
 * Whether a stored time is due. A time further ahead than the longest wait was stored before the clock was set back. It
 * counts as due; otherwise its row would wait until the wrong time comes.
 */
export function isDue(at: number, now: number, longestWait: number): boolean {
  return at <= now || at > now + longestWait;
}

/**
 * The first due rows, longest due first. The two kinds of due rows are read separately: one condition for both would pass over
 * every row that still waits.
 * @param search returns the first rows, by time, whose time fulfils the comparison with `at`.
 */
export async function firstDue<Row>(
  { now, longestWait, limit }: { now: number; longestWait: number; limit: number },
  search: (comparison: "<=" | ">", at: number, limit: number) => Promise<Row[]>,
): Promise<Row[]> {
  const due = await search("<=", now, limit);
  if (due.length === limit) return due;
  return [...due, ...(await search(">", now + longestWait, limit - due.length))];
}
