/** Full-size successes before a larger size is tried; doubled each time that the larger size is refused. */
const FIRST_PATIENCE = 16;
const MOST_PATIENCE = 4_096;

/**
 * A size that adapts to what a provider accepts. A refusal halves it. After enough successes at its full size it grows by
 * half, and returns to the size that worked if the larger one is refused.
 */
export class AdaptiveLimit {
  readonly #start: number;
  #value: number;
  /** The size that worked before the last growth; null after a refusal. */
  #worked: number | null = null;
  #successes = 0;
  #patience = FIRST_PATIENCE;

  /** @param start first and largest size. */
  constructor(start: number) {
    this.#start = start;
    this.#value = start;
  }

  get value(): number {
    return this.#value;
  }

  /** The provider accepted a call of this size. */
  accepted(size: number): void {
    // A smaller one does not show that a larger one would pass.
    if (size < this.#value || this.#value === this.#start) return;
    this.#successes += 1;
    if (this.#successes < this.#patience) return;
    this.#worked = this.#value;
    this.#value = Math.min(this.#start, Math.ceil(this.#value * 1.5));
    this.#successes = 0;
  }

  /** The provider refused a call of this size. @returns false when no smaller size is left. */
  refused(size: number): boolean {
    this.#successes = 0;
    // A call that began before the last refusal says nothing new.
    if (size > this.#value) return true;
    if (size <= 1) return false;
    if (this.#worked !== null && size > this.#worked) {
      this.#value = this.#worked;
      this.#patience = Math.min(2 * this.#patience, MOST_PATIENCE);
    } else {
      this.#value = Math.max(1, Math.floor(size / 2));
    }
    this.#worked = null;
    return true;
  }
}
