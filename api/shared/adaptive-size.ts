/**
 * How a size grows again after it became smaller. `after`: successes at the full size before a larger one is tried; doubled each
 * time that the larger one fails, up to `most`. Limits of others change rarely, and each size that is too large costs a call.
 */
const GROWTH = { factor: 1.5, after: 16, most: 4_096 };

/**
 * A size that adapts to what succeeds. A failure halves it. After enough successes at its full size it grows, and returns to
 * the size that worked if the larger one fails.
 */
export class AdaptiveSize {
  readonly #start: number;
  #value: number;
  /** The size that worked before the last growth; null after a failure. */
  #worked: number | null = null;
  #successes = 0;
  #patience = GROWTH.after;

  /** @param start first and largest size. */
  constructor(start: number) {
    this.#start = start;
    this.#value = start;
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
    this.#value = Math.min(this.#start, Math.ceil(this.#value * GROWTH.factor));
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
      this.#patience = Math.min(2 * this.#patience, GROWTH.most);
    } else {
      this.#value = Math.max(1, Math.floor(size / 2));
    }
    this.#worked = null;
    return true;
  }
}
