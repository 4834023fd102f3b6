/**
 * A token bucket for bytes: `burst` at once, then `perSecond`. It limits the memory, because Helia keeps everything that a
 * peer asks for in memory until it is sent.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #countedAt: number;

  /** @param now milliseconds of a monotonic clock. */
  constructor(burst: number, perSecond: number, now: () => number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
    this.#countedAt = now();
  }

  /** Whether any bytes are left. One block may overdraw the allowance; the next one then waits longer. */
  get open(): boolean {
    const now = this.#now();
    this.#left = Math.min(this.#burst, this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond);
    this.#countedAt = now;
    return this.#left > 0;
  }

  spend(bytes: number): void {
    this.#left -= bytes;
  }
}
