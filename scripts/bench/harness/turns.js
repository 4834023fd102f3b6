import { profile } from "./profile.ts";
import { meanOf, usagePerRequest } from "./usage.ts";
const TURNS = 5;
/** A server that is measured, and the calls to it. */
export class Side {
    #process;
    load;
    constructor(process, load) {
        this.#process = process;
        this.load = load;
    }
    get instruments() {
        return this.#process.instruments;
    }
}
/**
 * Measures the sides in turns, so that a slow moment of the machine affects all of them.
 * @returns the measurement of each, in the order of `works`.
 */
export async function inTurns(calls, works) {
    const each = Math.ceil(calls / TURNS);
    const seconds = works.map(() => 0);
    for (const [{ load }, call] of works)
        await load.run(Math.floor(calls / 5), call); // warms up
    const usages = works.map(() => []);
    for (let turn = 0; turn < TURNS; turn++) {
        for (const [index, [{ load, instruments }, call]] of works.entries()) {
            // Read at each turn, because several works may use the same process.
            const before = await instruments.usage();
            seconds[index] = (seconds[index] ?? 0) + (await load.run(each, call));
            usages[index]?.push(usagePerRequest(before, await instruments.usage(), each));
        }
    }
    // A profiler slows the process down, so it runs afterwards.
    for (const [{ instruments, load }, call, file] of works) {
        await profile(instruments, file, () => load.run(calls, call));
    }
    const measured = works.map((_, index) => {
        const [used, spent] = [usages[index], seconds[index]];
        if (used === undefined || spent === undefined)
            throw new Error("a side was not measured");
        return { rate: (each * TURNS) / spent, usage: meanOf(used) };
    });
    return measured;
}
/** Its rate, and the CPU time of a call. */
export function rowsOfCalls(what, measured, baseline, atLeast) {
    return [
        {
            what: `${what}, rate`,
            unit: "/s",
            measured: measured.rate,
            baseline: { what: baseline.what, measured: baseline.rate },
            goal: { atLeast },
            usage: { ...measured.usage, nodeCpuMs: null },
        },
        {
            what: `${what}, CPU`,
            unit: "ms",
            measured: measured.usage.cpuMs,
            baseline: { what: baseline.what, measured: baseline.usage.cpuMs },
        },
    ];
}
