/** Slots for work that several apps compete for. */
export interface Slots {
  /** Free slots. */
  limit: number;
  /** Most slots of one app, including those that it uses already: a slow app leaves slots to the others. */
  limitOfApp: number;
  /** The app of each running piece of work; an app is listed once for each. */
  underWay: readonly string[];
}

/**
 * Chooses the rows of a queue that get the free slots: first come, first served, but no app gets more than its share.
 * If one app has a long queue, the rows behind it are found by reading again without that app. So the number of reads
 * depends only on the number of slots, never on the length of the queue.
 * @param read the first rows of the queue, at most `limit`, leaving out some apps.
 */
export async function takeFairly<Row extends { id: string; app_id: string }>(
  slots: Slots,
  read: (query: { limit: number; without: string[] }) => Promise<Row[]>,
): Promise<Row[]> {
  const { limit, limitOfApp } = slots;
  const taken = new Map<string, Row>();
  const used = new Map<string, number>();
  for (const app of slots.underWay) used.set(app, (used.get(app) ?? 0) + 1);
  while (taken.size < limit) {
    const without = [...used].filter(([, count]) => count >= limitOfApp).map(([app]) => app);
    const rows = await read({ limit, without });
    let refused = false;
    for (const row of rows) {
      if (taken.has(row.id) || taken.size === limit) continue;
      const count = used.get(row.app_id) ?? 0;
      if (count >= limitOfApp) refused = true;
      else {
        used.set(row.app_id, count + 1);
        taken.set(row.id, row);
      }
    }
    // Rows of other apps can only be hidden behind those of an app that has reached its limit.
    if (!refused || rows.length < limit) break;
  }
  return [...taken.values()];
}
