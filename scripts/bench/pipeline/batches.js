import { bareChain, RELAY_BATCH, relayBatches } from "./bare/chain.ts";
import { Load } from "../harness/load.ts";
import { measure, mintAll, profileAll, WARM_UP } from "../harness/measure.ts";
import { createAppIn } from "../../scene/scene.ts";
import { World } from "../harness/world.ts";
/** Items of a batch: as many as the API takes. */
const ITEMS = 1_000;
/** Batches that are sent at the same time. */
const AT_ONCE = 2;
/** Calls of another app beside the batches, and before them. */
const BESIDE = 50;
/** Mints through `POST /v1/nfts/batch`. Baselines: the node alone, and single calls. */
export const batches = { name: "batches", measure: run };
async function run({ quick, profiles, databases }) {
    const world = await World.start({ databases, settings: { MAX_BACKLOG: "10000000" } });
    try {
        const [to, collection] = [await world.wallet(), await world.collection()];
        let minted = 0;
        await mintAll(world, collection, to, WARM_UP, 0);
        minted += WARM_UP;
        const body = { collection_address: collection, to_address: to };
        const through = async (count) => {
            const measured = await mintInBatches(world, body, count, minted);
            minted += count;
            return measured;
        };
        await through(ITEMS);
        const single = await accepted(ITEMS, () => world.load.run(ITEMS, () => ({ method: "POST", path: "/v1/nfts", body })));
        minted += ITEMS;
        await world.untilCompleted("mint", minted);
        const batch = await accepted(ITEMS, () => sendBatch(world, body, ITEMS));
        minted += ITEMS;
        await world.untilCompleted("mint", minted);
        const singles = await mintAll(world, collection, to, ITEMS, minted);
        minted += ITEMS;
        const inBatch = await through(ITEMS);
        const mints = quick ? 2_000 : 12_000;
        const settled = await through(mints);
        await profileAll(world, profiles, "batches-settled", () => through(mints));
        const chain = await bareChain(world.node, to);
        await relayBatches(chain, RELAY_BATCH, RELAY_BATCH);
        const pushed = await relayBatches(chain, mints, RELAY_BATCH);
        // Last, because it leaves many requests behind.
        const beside = await besideBatches(world, body);
        return rowsOf({ settled, pushed, single, batch, singles, inBatch, beside });
    }
    finally {
        await world.stop();
    }
}
async function sendBatch(world, body, items) {
    const { results } = await world.load.send({
        method: "POST",
        path: "/v1/nfts/batch",
        body: { items: Array.from({ length: items }, () => body) },
    });
    if (results.some(({ request_id: id }) => id === undefined))
        throw new Error("an item of a batch was refused");
}
/** @returns requests that were accepted a second. */
async function accepted(count, work) {
    const started = performance.now();
    await work();
    return (count * 1_000) / (performance.now() - started);
}
/** @param before how many mints the app had completed. */
function mintInBatches(world, body, mints, before) {
    return measure(world, mints, async () => {
        let left = mints / ITEMS;
        const send = async () => {
            while (left-- > 0)
                await sendBatch(world, body, ITEMS);
        };
        await Promise.all(Array.from({ length: AT_ONCE }, send));
        await world.untilCompleted("mint", before + mints);
    });
}
/** What another app's calls take, one after the other, while this app sends batches all the time. */
async function besideBatches(world, body) {
    const { token } = await createAppIn(world.env.DATABASE_URL, "other");
    const other = new Load(world.urls, 1, token);
    const create = () => other.send({ method: "POST", path: "/v1/accounts", body: {} });
    try {
        await timesOf(create);
        const quiet = await timesOf(create);
        const beside = async (connections, send) => {
            let done = false;
            const sendAll = async () => {
                while (!done)
                    await send();
            };
            const sending = Promise.all(Array.from({ length: connections }, sendAll));
            const times = await timesOf(create);
            done = true;
            await sending;
            return times;
        };
        const single = () => world.load.send({ method: "POST", path: "/v1/nfts", body });
        const singles = await beside(world.load.connections, single);
        return { quiet, singles, batches: await beside(AT_ONCE, () => sendBatch(world, body, ITEMS)) };
    }
    finally {
        await other.close();
    }
}
async function timesOf(call) {
    const times = [];
    for (let calls = 0; calls < BESIDE; calls++) {
        const started = performance.now();
        await call();
        times.push(performance.now() - started);
    }
    times.sort((a, b) => a - b);
    return { median: times[BESIDE / 2] ?? 0, slowest: times.at(-1) ?? 0 };
}
function rowsOf(figures) {
    const { settled, pushed, single, batch, singles, inBatch, beside } = figures;
    return [
        {
            what: "mints settled, batches of 1,000",
            unit: "/s",
            measured: settled.rate,
            baseline: { what: "ready relay batches pushed to the same node", measured: pushed },
            goal: { atLeast: 1.2 },
            usage: settled.usage,
        },
        {
            what: "mints accepted, one batch of 1,000",
            unit: "/s",
            measured: batch,
            baseline: { what: "1,000 single calls from 64 connections", measured: single },
            goal: { atLeast: 2 },
        },
        {
            what: "mints settled, one batch of 1,000",
            unit: "/s",
            measured: inBatch.rate,
            baseline: { what: "1,000 single calls from 64 connections", measured: singles.rate },
            goal: { atLeast: 1 },
        },
        {
            what: "median of another app's calls, beside batches",
            unit: "ms",
            measured: beside.batches.median,
            baseline: {
                what: `beside single calls; ${beside.quiet.median.toFixed(1)} ms alone`,
                measured: beside.singles.median,
            },
            goal: null,
        },
        {
            what: "slowest of another app's calls, beside batches",
            unit: "ms",
            measured: beside.batches.slowest,
            baseline: {
                what: `beside single calls; ${beside.quiet.slowest.toFixed(1)} ms alone`,
                measured: beside.singles.slowest,
            },
            goal: null,
        },
    ];
}
