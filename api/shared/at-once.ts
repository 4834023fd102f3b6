/**
 * Runs `work` for every item of a list, for at most `limit` items at once. After an error it begins nothing more. Either way
 * it ends only when all that it has begun has ended.
 * @throws the first error of `work`, or the error of the list.
 */
export async function forEachAtOnce<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  try {
    for await (const item of items) {
      // Handled here and not at the end: the list may take its time, and an error that nobody handles ends the process.
      const task = work(item)
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(task));
      running.add(task);
      while (running.size >= limit) await Promise.race(running);
      if (errors.length > 0) break;
    }
  } finally {
    await Promise.all(running);
  }
  if (errors.length > 0) throw errors[0];
}

/** The items of a list in pages. @param size of each page but the last. */
export async function* inPages<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  size: number,
): AsyncGenerator<Item[]> {
  let page: Item[] = [];
  for await (const item of items) {
    page.push(item);
    if (page.length < size) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
