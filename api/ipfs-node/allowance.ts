/**
 * How many bytes may be handed out: `burst` at once, then `perSecond`. Peers ask for as much as they like, and Helia
 * holds all that one of them asks for in memory until it is sent.
 */
export class Allowance {
  readonly #burst: number;
  readonly #perSecond: number;
  readonly #now: () => number;
  #left: number;
  #countedAt: number;

  /** @param now milliseconds of a clock that only goes forward. */
  constructor(burst: number, perSecond: number, now: () => number) {
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#now = now;
    this.#left = burst;
    this.#countedAt = now();
  }

  /** Whether there is some left. The last bytes may exceed it: the next ones then wait the longer. */
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
