import { addToCounter } from "./counters.ts";
import type { Trx } from "./engine.ts";

/** Collects changes of listing totals, so that a hundred mints of one collection touch its counter once. */
export class CounterDeltas {
  readonly #deltas = new Map<string, number>();

  add(key: string, delta: number): void {
    this.#deltas.set(key, (this.#deltas.get(key) ?? 0) + delta);
  }

  /** In the order of the keys, so that two writers never wait for each other in a circle. */
  async flush(trx: Trx): Promise<void> {
    for (const key of [...this.#deltas.keys()].sort()) {
      await addToCounter(trx, key, this.#deltas.get(key) ?? 0);
    }
    this.#deltas.clear();
  }
}
