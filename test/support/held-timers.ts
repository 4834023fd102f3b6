import { eventually } from "./eventually.ts";

/**
 * Holds the timers of one length, in milliseconds, until the test lets them ring. So a timeout takes no time, and cannot be over
 * before the test has come to it. Other timers run as usual.
 */
export class HeldTimers {
  readonly #held = new Map<NodeJS.Timeout, () => void>();
  readonly #set = globalThis.setTimeout;
  readonly #clear = globalThis.clearTimeout;

  constructor(length: number) {
    const set = (run: (...values: unknown[]) => void, delay?: number, ...values: unknown[]) => {
      const timer = this.#set(run, delay === length ? LONGEST : delay, ...values);
      if (delay === length)
        this.#held.set(timer, () => {
          run(...values);
        });
      return timer;
    };
    globalThis.setTimeout = Object.assign(set, this.#set);
    globalThis.clearTimeout = (timer) => {
      if (typeof timer === "object") this.#held.delete(timer);
      this.#clear(timer);
    };
  }

  /** Waits until such a timer is set, and lets it ring. */
  async ring(): Promise<void> {
    await eventually(() => Promise.resolve(this.#held.size > 0 ? true : undefined));
    for (const [timer, run] of [...this.#held]) {
      clearTimeout(timer);
      run();
    }
  }

  /** Timers that are set afterwards are not held. */
  release(): void {
    globalThis.setTimeout = this.#set;
    globalThis.clearTimeout = this.#clear;
  }
}

/** The longest delay of a timer. */
const LONGEST = 2 ** 31 - 1;
