import { anvilBinary } from "../../scene/anvil.ts";
import { FaultyNode } from "../../scene/faulty-node.ts";
import { NodeProcess } from "../../scene/node.ts";
import { World } from "../harness/world.ts";
import { DAY, mintEvenly, RATE, SETTINGS } from "./minting.ts";
/** Blocks of a rollup. */
const PACE = { gas: 60_000_000, seconds: 2 };
const BLOCKS = 20;
const QUICK_BLOCKS = 4;
/**
 * What several nodes and the check of receipts cost: the calls of each node for a settled mint, at the rate of a million a day.
 * The nodes are proxies in front of one node, so they always agree.
 */
export const nodes = { name: "nodes", measure: run };
async function run({ quick, databases }) {
    // The package exists for one platform only.
    if (anvilBinary() === null)
        return [];
    const rows = [];
    for (const count of [1, 2, 3]) {
        for (const receipts of [false, true]) {
            const setting = { count, receipts, blocks: quick ? QUICK_BLOCKS : BLOCKS };
            rows.push(await measured(setting, databases));
        }
    }
    return rows;
}
async function measured({ count, receipts, blocks }, databases) {
    const proxies = [];
    const world = await World.start({
        databases,
        node: () => NodeProcess.underLoad(),
        settings: { ...SETTINGS, VERIFY_RECEIPTS: receipts.toString() },
        inFront: async (url, scene) => {
            while (proxies.length < count)
                proxies.push(await scene.add(FaultyNode.start(url)));
            const urls = proxies.map((node) => node.url).join(",");
            return count === 1 ? { RPC_URL: urls } : { RPC_URL: "", RPC_URLS: urls };
        },
    });
    try {
        const [to, collection] = [await world.wallet(), await world.collection()];
        const body = { collection_address: collection, to_address: to };
        await world.load.run(1, () => ({ method: "POST", path: "/v1/nfts", body }));
        await world.untilCompleted("mint", 1);
        await world.node.mineAt(PACE);
        await world.node.nextBlock();
        const started = performance.now();
        const before = proxies.map(readingOf);
        const mints = Math.round(RATE * blocks * PACE.seconds);
        await mintEvenly(world, body, mints);
        await world.untilCompleted("mint", mints + 1);
        const spent = proxies.map((node, index) => between(before[index], readingOf(node)));
        return rowOf({ count, receipts }, { spent, mints, took: (performance.now() - started) / 1_000 });
    }
    finally {
        await world.stop();
    }
}
function readingOf({ bytes, calls }) {
    return { bytes, calls: new Map(calls) };
}
function between(before, after) {
    const calls = [...after.calls].map(([method, sum]) => [method, sum - (before?.calls.get(method) ?? 0)]);
    return { bytes: after.bytes - (before?.bytes ?? 0), calls: new Map(calls.filter(([, sum]) => sum > 0)) };
}
function rowOf({ count, receipts }, { spent, mints, took }) {
    const sums = spent.map(({ calls }) => [...calls.values()].reduce((sum, one) => sum + one, 0));
    const all = sums.reduce((sum, one) => sum + one, 0);
    const bytes = spent.reduce((sum, one) => sum + one.bytes, 0);
    const byNode = spent.map(({ calls }, index) => {
        const listed = [...calls]
            .toSorted(([, one], [, other]) => other - one)
            .map(([name, sum]) => `${name} ${sum.toString()}`);
        return `node ${(index + 1).toString()}: ${(sums[index] ?? 0).toString()} (${listed.join(", ")})`;
    });
    const perDay = (sum) => (sum / took) * DAY;
    return {
        what: `RPC calls for a settled mint, ${count.toString()} ${count === 1 ? "node" : "nodes"}${receipts ? ", receipts checked" : ""}`,
        unit: "",
        measured: all / mints,
        note: `a day with a million mints: ${(perDay(all) / 1e6).toFixed(2)} million calls, ${(perDay(bytes) / 1e9).toFixed(2)} GB of answers; in ${took.toFixed(0)} s with ${mints.toString()} mints: ${byNode.join("; ")}`,
    };
}
