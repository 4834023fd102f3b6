import { setImmediate as turn } from "node:timers/promises";

const SLICE = 10;

/** Gives other work its turn from time to time, so that slow synchronous code does not block the event loop until it is done. */
export class Slices {
  readonly #slice: number;
  #started = performance.now();

  /** @param slice milliseconds after which other work gets its turn. */
  constructor(slice = SLICE) {
    this.#slice = slice;
  }

  /** Call it before each piece. */
  async next(): Promise<void> {
    if (performance.now() - this.#started < this.#slice) return;
    await turn();
    this.#started = performance.now();
  }
}

/**
 * Maps with slow synchronous code, in slices.
 * @param slice milliseconds after which other work gets its turn.
 */
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
