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

/** A part of the service's state. Null while it cannot be read, or does not answer in time. */
export type Source<T> = () => Promise<T | null>;

/** Only one read runs at a time, and each result is reused for a while, so that a scraper cannot overload the database or the node. */
export function source<T>(name: string, read: () => Promise<T>, options: SourceOptions): Source<T> {
  const { fresh, logger, restFactor = 0, timeout = TIMEOUT } = options;
  let reading: Promise<T | null> | null = null;
  let last: { value: T | null; freshUntil: number } | null = null;
  let isFailing = false;
  const look = async (): Promise<T | null> => {
    const beganAt = performance.now();
    let value: T | null = null;
    try {
      value = await read();
      isFailing = false;
    } catch (error) {
      // Once: a scraper asks again and again. `moneta_source_up` shows how long it lasts.
      if (!isFailing) logger.warn({ err: error, source: name }, "a part of the service's state cannot be read");
      isFailing = true;
    }
    const endedAt = performance.now();
    last = { value, freshUntil: endedAt + Math.max(fresh, restFactor * (endedAt - beganAt)) };
    reading = null;
    return value;
  };
  return async () => {
    if (last !== null && performance.now() < last.freshUntil) return last.value;
    reading ??= look();
    return inTime(reading, timeout, () => null);
  };
}
