import { setImmediate as turn } from "node:timers/promises";

/** Milliseconds after which other work gets its turn. */
const SLICE = 10;

/** Gives other work its turn from time to time, so that slow synchronous code does not block the event loop until it is done. */
export class Slices {
  #started = performance.now();

  /** Call it before each piece. */
  async next(): Promise<void> {
    if (performance.now() - this.#started < SLICE) return;
    await turn();
    this.#started = performance.now();
  }
}

/** Maps with slow synchronous code, in slices of so many milliseconds. */
export async function mapInSlices<In, Out>(
  items: readonly In[],
  map: (item: In, index: number) => Out,
  slice = SLICE,
): Promise<Out[]> {
  const results: Out[] = [];
  let started = performance.now();
  for (const [index, item] of items.entries()) {
    if (performance.now() - started >= slice) {
      await turn();
      started = performance.now();
    }
    results.push(map(item, index));
  }
  return results;
}
