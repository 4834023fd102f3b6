import { setTimeout as delay } from "node:timers/promises";

/** Waits. An abort ends the wait early, without an exception. */
export async function pause(milliseconds: number, abort?: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal: abort });
  } catch (error) {
    if (abort?.aborted !== true) throw error;
  }
}

/** Waits for the work, but no longer than this. After that, `late` says what becomes of it. */
export async function inTime<T>(work: Promise<T>, milliseconds: number, late: () => T): Promise<T> {
  const deadline = Promise.withResolvers<null>();
  const timer = setTimeout(deadline.resolve, milliseconds, null);
  try {
    return await Promise.race([work, deadline.promise.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
