/** Places for work that several apps compete for. */
export interface Slots {
  /** Free places. */
  limit: number;
  /** Most places of one app, those that it uses already among them: an app that is slow leaves places to the others. */
  limitOfApp: number;
  /** The app of each piece of work that is under way, once for each. */
  underWay: readonly string[];
}

/**
 * Chooses from a queue what gets the free places: first come, first served, but no app gets more than its share. What lies
 * behind a long queue of one app is found by reading again without that app, so the number of reads depends on the slots
 * alone and never on the length of the queue.
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
    // Only where an app was held back may more be waiting behind its rows.
    if (!refused || rows.length < limit) break;
  }
  return [...taken.values()];
}
