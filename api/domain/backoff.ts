/** How long to wait after a failure, in milliseconds. Each further failure in a row doubles the wait. */
export interface Backoff {
  first: number;
  longest: number;
}

/**
 * @param earlier failures in a row before this one.
 * @returns milliseconds.
 */
export function backoff({ first, longest }: Backoff, earlier: number): number {
  return Math.min(first * 2 ** earlier, longest);
}

/**
 * The wait of a worker after a fault of what all its work needs, such as a disk. Tasks that ran at the same time and failed
 * for the same reason count as one failure.
 */
export class FaultBackoff {
  readonly #times: Backoff;
  readonly #now: () => number;
  #failures = 0;
  #until = -Infinity;

  /** @param now a monotonic clock, in milliseconds. */
  constructor(times: Backoff, now: () => number) {
    this.#times = times;
    this.#now = now;
  }

  /** Whether the last work failed by a fault. */
  get active(): boolean {
    return this.#failures > 0;
  }

  /** Whether it is too early to try again. */
  get waiting(): boolean {
    return this.#now() < this.#until;
  }

  /** Work failed by a fault. The wait doubles, unless it has not passed yet. */
  failed(): void {
    if (this.waiting) return;
    this.#until = this.#now() + backoff(this.#times, this.#failures);
    this.#failures += 1;
  }

  /** Work succeeded. */
  clear(): void {
    this.#failures = 0;
    this.#until = -Infinity;
  }
}
