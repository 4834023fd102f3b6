import { setTimeout as wait } from "node:timers/promises";

/** Milliseconds between two polls. */
const LOOK = 5;
const LONGEST = 120_000;

/** Waits until something is so. @throws Error after two minutes. */
export async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + LONGEST;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await wait(LOOK);
  }
}
