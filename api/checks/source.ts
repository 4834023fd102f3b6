import type { Logger } from "pino";

import { inTime } from "../shared/pause.ts";

/** Milliseconds that an answer waits for a source. */
const TIMEOUT = 5_000;

interface SourceOptions {
  /** Milliseconds for which a result is reused. */
  fresh: number;
  logger: Logger;
  /** A result is reused for at least this many times as long as reading it took. Default 0. */
  restFactor?: number;
  /** Milliseconds that a caller waits. */
  timeout?: number;
}

/**
 * A source of the service's state. Only one read runs at a time, and each result is reused for a while, so that a scraper cannot overload the
 * database or the node.
 */
export class Source<T> {
  readonly name: string;
  readonly #read: () => Promise<T>;
  readonly #options: SourceOptions;
  #reading: Promise<T | null> | null = null;
  #last: { value: T | null; freshUntil: number } | null = null;
  #failing = false;

  constructor(name: string, read: () => Promise<T>, options: SourceOptions) {
    this.name = name;
    this.#read = read;
    this.#options = options;
  }

  /** Null while the source cannot be read, or does not answer in time. */
  async value(): Promise<T | null> {
    const { timeout = TIMEOUT } = this.#options;
    if (this.#last !== null && performance.now() < this.#last.freshUntil) return this.#last.value;
    this.#reading ??= this.#look();
    return inTime(this.#reading, timeout, () => null);
  }

  async #look(): Promise<T | null> {
    const { fresh, restFactor = 0 } = this.#options;
    const beganAt = performance.now();
    let value: T | null = null;
    try {
      value = await this.#read();
      this.#failing = false;
    } catch (error) {
      // Once: a scraper asks again and again. `moneta_source_up` shows how long it lasts.
      const failed = "a part of the service's state cannot be read";
      if (!this.#failing) this.#options.logger.warn({ err: error, source: this.name }, failed);
      this.#failing = true;
    }
    const endedAt = performance.now();
    this.#last = { value, freshUntil: endedAt + Math.max(fresh, restFactor * (endedAt - beganAt)) };
    this.#reading = null;
    return value;
  }
}
