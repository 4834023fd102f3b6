import { setTimeout as wait } from "node:timers/promises";

/** Looks until there is something. @throws after the time is over. */
export async function eventually<T>(look: () => Promise<T | undefined>, timeoutMs = 20_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error("it never came");
    await wait(50);
  }
}
