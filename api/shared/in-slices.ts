import { setImmediate as turn } from "node:timers/promises";

/** Milliseconds after which other work gets its turn. */
const SLICE = 10;

/** Maps with slow synchronous code, in slices, so that the event loop is not blocked until the last item is done. */
export async function mapInSlices<In, Out>(items: readonly In[], map: (item: In) => Out): Promise<Out[]> {
  const results: Out[] = [];
  let started = performance.now();
  for (const item of items) {
    if (performance.now() - started >= SLICE) {
      await turn();
      started = performance.now();
    }
    results.push(map(item));
  }
  return results;
}
