import { setTimeout as wait } from "node:timers/promises";

/** In milliseconds. */
interface Patience {
  /** How long it may take. */
  within?: number;
  /** Between two looks. */
  every?: number;
}

/** Looks again and again until there is something. @throws when it takes too long. */
export async function waitFor<T>(
  what: string,
  look: () => T | null | Promise<T | null>,
  { within = 120_000, every = 50 }: Patience = {},
): Promise<T> {
  for (const deadline = performance.now() + within; ;) {
    const one = await look();
    if (one !== null) return one;
    if (performance.now() > deadline) throw new Error(`waited more than ${(within / 1_000).toString()} s: ${what}`);
    await wait(every);
  }
}

/** Waits until something holds. @throws when it takes too long. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patience?: Patience): Promise<void> {
  await waitFor(what, async () => ((await holds()) ? true : null), patience);
}
