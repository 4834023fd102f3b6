import { setTimeout as wait } from "node:timers/promises";
/** Looks again and again until there is something. @throws when it takes too long. */
export async function waitFor(what, look, { within = 120_000, every = 50 } = {}) {
    for (const deadline = performance.now() + within;;) {
        const one = await look();
        if (one !== null)
            return one;
        if (performance.now() > deadline)
            throw new Error(`waited more than ${(within / 1_000).toString()} s: ${what}`);
        await wait(every);
    }
}
/** Waits until something holds. @throws when it takes too long. */
export async function until(what, holds, patience) {
    await waitFor(what, async () => ((await holds()) ? true : null), patience);
}
