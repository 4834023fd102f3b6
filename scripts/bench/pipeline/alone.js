import { bareChain, sendAndWait } from "./bare/chain.ts";
import { World } from "../harness/world.ts";
/** One mint while nothing else happens, from the call to `completed`. */
export const alone = { name: "alone", measure: run };
async function run({ quick, databases }) {
    const times = quick ? 10 : 40;
    const world = await World.start({ databases });
    try {
        const to = await world.wallet();
        const collection = await world.collection();
        const chain = await bareChain(world.node, to);
        const [ours, theirs] = [[], []];
        // The two measurements alternate, so that a slow moment of the machine affects both.
        for (let index = 0; index < times; index++) {
            ours.push(await mintOnce(world, collection, to));
            theirs.push(await sendAndWait(chain));
        }
        return [
            {
                what: "one mint alone, accepted to completed, median",
                unit: "ms",
                measured: median(ours),
                baseline: { what: "one transaction sent and awaited through ethers", measured: median(theirs) },
                goal: { atMost: 0.6 },
            },
        ];
    }
    finally {
        await world.stop();
    }
}
/** @returns milliseconds. */
async function mintOnce(world, collection, to) {
    const started = performance.now();
    const { request_id: id } = await world.load.send({
        method: "POST",
        path: "/v1/nfts",
        body: { collection_address: collection, to_address: to },
    });
    await world.final(id, 2);
    return performance.now() - started;
}
function median(values) {
    const sorted = values.toSorted((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
