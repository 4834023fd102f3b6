import { setTimeout as wait } from "node:timers/promises";

/** Longest pause between two polls, in milliseconds. The first ones are shorter: most of what tests wait for comes soon. */
const LONGEST_PAUSE = 50;

/**
 * Calls `look` until it returns something other than undefined.
 * @throws after the timeout, with the source text of `look`, which says what the test waited for.
 */
export async function eventually<T>(
  look: () => Promise<T | undefined> | T | undefined,
  timeoutMs = 240_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 2; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) {
      throw new Error(`Nothing was found within ${timeoutMs.toString()} ms by: ${look.toString()}`);
    }
    await wait(pause);
  }
}
