import { setImmediate as turn } from "node:timers/promises";

const SLICE = 10;

/**
 * Maps with slow synchronous code, in slices, so that the event loop is not blocked until the last item is done.
 * @param slice milliseconds after which other work gets its turn.
 */
export async function mapInSlices<In, Out>(
  items: readonly In[],
  map: (item: In) => Out,
  slice = SLICE,
): Promise<Out[]> {
  const results: Out[] = [];
  let started = performance.now();
  for (const item of items) {
    if (performance.now() - started >= slice) {
      await turn();
      started = performance.now();
    }
    results.push(map(item));
  }
  return results;
}
