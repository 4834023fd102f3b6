import { setTimeout as delay } from "node:timers/promises";

/** Waits. An abort ends the wait early, without an exception. */
export async function pause(milliseconds: number, abort?: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, { signal: abort });
  } catch (error) {
    if (abort?.aborted !== true) throw error;
  }
}
