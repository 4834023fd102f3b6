import { mintAll, profileAll, transferAll, WARM_UP } from "../harness/measure.ts";
import { bareChain, oneByOne, RELAY_BATCH, relayBatches } from "./bare/chain.ts";
import { World } from "../harness/world.ts";
/** Mints and transfers from the HTTP call to `completed`. Baseline: the node alone. */
export const settling = {
    name: "settling",
    measure: ({ quick, profiles, databases }) => run({ mints: quick ? 1_000 : 4_000, baselines: true, profiles, databases }),
    run,
};
async function run({ mints, baselines, profiles, databases }) {
    const world = await World.start({ databases });
    try {
        const [from, to] = [await world.wallet(), await world.wallet()];
        const collection = await world.collection();
        await mintAll(world, collection, from, WARM_UP, 0);
        const minted = await mintAll(world, collection, from, mints, WARM_UP);
        const moved = await transferAll(world, { collection, from, to }, Math.floor(mints / 2));
        await profileAll(world, profiles, "mints-settled", () => mintAll(world, collection, from, mints, WARM_UP + mints));
        if (!baselines)
            return countsOf(minted, moved);
        const chain = await bareChain(world.node, to);
        await relayBatches(chain, RELAY_BATCH, RELAY_BATCH);
        const batches = await relayBatches(chain, mints, RELAY_BATCH);
        const single = await oneByOne(chain, Math.ceil(mints / 4));
        return [...ratesOf(minted, moved, batches, single), ...countsOf(minted, moved)];
    }
    finally {
        await world.stop();
    }
}
function ratesOf(minted, moved, batches, single) {
    const { usage } = minted;
    return [
        {
            what: "mints settled, single POSTs from 64 connections",
            unit: "/s",
            measured: minted.rate,
            baseline: { what: "ready relay batches pushed to the same node", measured: batches },
            goal: { atLeast: 0.8 },
            usage,
        },
        {
            what: "mints settled",
            unit: "/s",
            measured: minted.rate,
            baseline: { what: "one pipelined transaction for each mint", measured: single },
            goal: { atLeast: 3 },
        },
        {
            what: "transfers settled",
            unit: "/s",
            measured: moved.rate,
            baseline: { what: "mints settled", measured: minted.rate },
            goal: { atLeast: 0.6 },
            usage: moved.usage,
        },
        ...(usage.nodeCpuMs === null
            ? []
            : [
                {
                    what: "CPU for a mint",
                    unit: "ms",
                    measured: usage.cpuMs,
                    baseline: { what: "CPU of the node for it", measured: usage.nodeCpuMs },
                    goal: { atMost: 1.3 },
                },
            ]),
    ];
}
function countsOf(minted, moved) {
    return [
        count("SQL statements for a mint", minted.usage.statements, 4),
        count("SQL writes for a mint", minted.usage.writes, 1),
        count("SQL statements for a transfer", moved.usage.statements, 4),
        count("SQL writes for a transfer", moved.usage.writes, 1),
    ];
}
function count(what, measured, atMost) {
    return { what, unit: "", measured, baseline: null, goal: { atMost } };
}
