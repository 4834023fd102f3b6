/** How a size grows again after it became smaller. */
interface Growth {
  factor: number;
  /** Successes at the full size before a larger one is tried; doubled each time that the larger one fails, up to `most`. */
  after: number;
  most: number;
}

/** For limits of others: they change rarely, and each size that is too large costs a call. */
const CAREFUL: Growth = { factor: 1.5, after: 16, most: 4_096 };

/** For work that fails because of a single item: once that is found, the rest is done in large parts again. */
export const GROWS_AT_ONCE: Growth = { factor: 2, after: 1, most: 1 };

/**
 * A size that adapts to what succeeds. A failure halves it. After enough successes at its full size it grows, and returns to
 * the size that worked if the larger one fails.
 */
export class AdaptiveSize {
  readonly #start: number;
  readonly #growth: Growth;
  #value: number;
  /** The size that worked before the last growth; null after a failure. */
  #worked: number | null = null;
  #successes = 0;
  #patience: number;

  /** @param start first and largest size. */
  constructor(start: number, growth = CAREFUL) {
    this.#start = start;
    this.#growth = growth;
    this.#value = start;
    this.#patience = growth.after;
  }

  get value(): number {
    return this.#value;
  }

  /** Work of this size succeeded. */
  accepted(size: number): void {
    // A smaller one does not show that a larger one would pass.
    if (size < this.#value || this.#value === this.#start) return;
    this.#successes += 1;
    if (this.#successes < this.#patience) return;
    this.#worked = this.#value;
    this.#value = Math.min(this.#start, Math.ceil(this.#value * this.#growth.factor));
    this.#successes = 0;
  }

  /** Work of this size failed. @returns false when no smaller size is left. */
  refused(size: number): boolean {
    this.#successes = 0;
    // Work that began before the last failure says nothing new.
    if (size > this.#value) return true;
    if (size <= 1) return false;
    if (this.#worked !== null && size > this.#worked) {
      this.#value = this.#worked;
      this.#patience = Math.min(2 * this.#patience, this.#growth.most);
    } else {
      this.#value = Math.max(1, Math.floor(size / 2));
    }
    this.#worked = null;
    return true;
  }
}
