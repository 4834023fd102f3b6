import { setTimeout as wait } from "node:timers/promises";
import { Load } from "../harness/load.ts";
/** Milliseconds between two calls. */
const EVERY = 10;
/**
 * Calls the API on one connection, one call after the other, until it is stopped. It makes each call once before that, because
 * the first call of a process is slower.
 * @returns what the calls took so far, in milliseconds, and what stops them. That throws what ended them early.
 */
export async function startProbe(url, token, calls) {
    const load = new Load([url], 1, token);
    for (const call of calls)
        await load.send(call);
    const times = [];
    const stopping = new AbortController();
    const run = async () => {
        while (!stopping.signal.aborted) {
            for (const call of calls) {
                const started = performance.now();
                await load.send(call);
                times.push(performance.now() - started);
                await wait(EVERY);
            }
        }
    };
    const running = run();
    // `stop` throws it.
    running.catch(() => undefined);
    const stop = async () => {
        stopping.abort();
        await running;
        await load.close();
    };
    return { times, stop };
}
export function answersOf(times) {
    const sorted = times.flat().sort((a, b) => a - b);
    return {
        calls: sorted.length,
        p99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? NaN,
        slowest: sorted.at(-1) ?? NaN,
    };
}
