/**
 * The wait of a worker after a fault of what all its work needs, such as a disk. Tasks that ran at the same time and failed
 * for the same reason count as one failure.
 */
export class FaultBackoff {
  readonly #limits: { first: number; longest: number };
  readonly #now: () => number;
  #wait = 0;
  #until = -Infinity;

  /** @param limits the first and the longest wait. @param now a monotonic clock. All in milliseconds. */
  constructor(limits: { first: number; longest: number }, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Whether the last work failed by a fault. */
  get active(): boolean {
    return this.#wait > 0;
  }

  /** Whether it is too early to try again. */
  get waiting(): boolean {
    return this.#now() < this.#until;
  }

  /** Work failed by a fault. The wait doubles, unless it has not passed yet. */
  failed(): void {
    if (this.waiting) return;
    this.#wait = Math.min(Math.max(2 * this.#wait, this.#limits.first), this.#limits.longest);
    this.#until = this.#now() + this.#wait;
  }

  /** Work succeeded. */
  clear(): void {
    this.#wait = 0;
    this.#until = -Infinity;
  }
}
