import { randomInt } from "node:crypto";

/**
 * For long tests of many cases: those that fit into a time run, the others are skipped and counted as such. The cases come in
 * another order each time, so that none is always left out.
 */
export class TimeBudget {
  readonly #milliseconds: number;
  #began: number | null = null;

  constructor(seconds: number) {
    this.#milliseconds = seconds * 1_000;
  }

  /** @returns the cases in a random order. */
  static shuffled<T>(cases: readonly T[]): T[] {
    const left = [...cases];
    return cases.flatMap(() => left.splice(randomInt(left.length), 1));
  }

  /** To be called first in a test. Skips it when the time is over. The first test always runs. */
  check(test: Mocha.Context): void {
    this.#began ??= performance.now();
    if (performance.now() - this.#began > this.#milliseconds) test.skip();
  }
}
