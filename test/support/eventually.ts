import { setTimeout as wait } from "node:timers/promises";

/**
 * Calls `look` until it returns something other than undefined.
 * @throws after the timeout, with the source text of `look`, which says what the test waited for.
 */
export async function eventually<T>(look: () => Promise<T | undefined>, timeoutMs = 240_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) {
      throw new Error(`Nothing was found within ${timeoutMs.toString()} ms by: ${look.toString()}`);
    }
    await wait(50);
  }
}
