import { anvilBinary } from "../../scene/anvil.ts";
import { NodeProcess } from "../../scene/node.ts";
import { fullnessOf, nameOf } from "../chain/blocks.ts";
import { World } from "../harness/world.ts";
import { DAY, mintEvenly, RATE, SETTINGS } from "./minting.ts";
const SIZES = [
    { gas: 60_000_000, seconds: 2, idle: 10, busy: 25 },
    { gas: 60_000_000, seconds: 12, idle: 2, busy: 5 },
];
const QUICK = [{ gas: 30_000_000, seconds: 1, idle: 2, busy: 5 }];
/**
 * What a day costs: the RPC calls, the transactions and the CPU time of the service while nothing happens, and while mints
 * come one by one at the rate of a million a day. It is measured for about a minute, and multiplied.
 */
export const oneDay = { name: "one-day", measure: run };
async function run({ quick, databases }) {
    // The package exists for one platform only.
    if (anvilBinary() === null)
        return [];
    const world = await World.start({ databases, node: () => NodeProcess.underLoad(), settings: SETTINGS });
    try {
        const { node } = world;
        const [to, collection] = [await world.wallet(), await world.collection()];
        const body = { collection_address: collection, to_address: to };
        // The first mint delegates the wallet and warms up.
        await world.load.run(1, () => ({ method: "POST", path: "/v1/nfts", body }));
        await world.untilCompleted("mint", 1);
        let minted = 1;
        const rows = [];
        for (const size of quick ? QUICK : SIZES) {
            await node.mineAt(size);
            const idle = await measured(world, () => node.nextBlock(), size.idle);
            const first = await node.nextBlock();
            const count = Math.round(RATE * size.busy * size.seconds);
            const calls = [];
            const watch = new BlockTimes(node);
            const busy = await measured(world, async () => calls.push(...(await mintEvenly(world, body, count))), 1);
            minted += count;
            await world.untilCompleted("mint", minted);
            const mints = await fullnessOf(node, size, first, await node.head());
            const times = await watch.stop();
            rows.push(...rowsOf(size, { idle, busy, mints }), await waitingRow({ world, node }, size, { calls, times }));
            await node.mineAtOnce();
        }
        return rows;
    }
    finally {
        await world.stop();
    }
}
async function measured(world, work, times) {
    const [started, before] = [performance.now(), await world.usage()];
    for (let time = 0; time < times; time++)
        await work();
    const after = await world.usage();
    return spentBetween(before, after, (performance.now() - started) / 1000);
}
function spentBetween(before, after, seconds) {
    return {
        seconds,
        rpcCalls: after.rpcCalls - before.rpcCalls,
        rpcExchanges: after.rpcExchanges - before.rpcExchanges,
        cpuSeconds: (after.cpuMs - before.cpuMs) / 1000,
        byMethod: Object.fromEntries(Object.entries(after.rpcByMethod).map(([method, count]) => [method, count - (before.rpcByMethod[method] ?? 0)])),
    };
}
/** When each block appeared, in milliseconds since 1970. The times in the blocks are whole seconds. */
class BlockTimes {
    #times = new Map();
    #watching;
    #stopped = false;
    constructor(node) {
        this.#watching = this.#watch(node);
    }
    async stop() {
        this.#stopped = true;
        await this.#watching;
        return this.#times;
    }
    async #watch(node) {
        while (!this.#stopped)
            this.#times.set(await node.nextBlock(), Date.now());
    }
}
/** How long the mints waited for their blocks, on average. */
async function waitingRow({ world, node }, pace, { calls, times }) {
    const blocks = new Map();
    const blockOf = async (hash) => {
        const receipt = await node.provider.getTransactionReceipt(hash);
        if (receipt === null)
            throw new Error(`${hash} is in no block`);
        return receipt.blockNumber;
    };
    let waited = 0;
    for (const { id, at } of calls) {
        const path = `/v1/requests/${id}`;
        const { transaction_hash: hash } = await world.load.send({ method: "GET", path });
        const found = blocks.get(hash) ?? blockOf(hash);
        blocks.set(hash, found);
        const time = times.get(await found);
        if (time === undefined)
            throw new Error(`nobody saw the block of ${hash} appear`);
        waited += (time - at) / 1000 / calls.length;
    }
    return {
        what: `from the call to the mint's block, a million mints a day, ${nameOf(pace)}`,
        unit: "s",
        measured: waited,
        baseline: { what: "half of the time between two blocks", measured: pace.seconds / 2 },
    };
}
function rowsOf(pace, { idle, busy, mints }) {
    const name = nameOf(pace);
    const transactions = mints.transactions * mints.blocks;
    const row = (what, unit, figure, note) => ({
        what: `${what}, ${name}`,
        unit,
        measured: figure,
        note,
    });
    const calls = ({ rpcCalls, rpcExchanges, byMethod, seconds: during }) => {
        const methods = Object.entries(byMethod).filter(([, count]) => count > 0);
        const listed = methods.toSorted(([, one], [, other]) => other - one).map(([method, count]) => `${method} ${count}`);
        return `${rpcCalls.toString()} calls in ${rpcExchanges.toString()} HTTP requests in ${during.toFixed(0)} s: ${listed.join(", ")}`;
    };
    return [
        row("RPC calls of a day without requests", "million", perDay(idle.rpcCalls, idle) / 1e6, calls(idle)),
        row("RPC calls of a day with a million mints", "million", perDay(busy.rpcCalls, busy) / 1e6, calls(busy)),
        row("transactions of a day with a million mints", "", perDay(transactions, busy), `${transactions.toFixed(0)} transactions in ${mints.blocks.toString()} blocks, ${(mints.mints / mints.transactions).toFixed(1)} mints in each, ${mints.gasOfMint.toFixed(0)} gas for a mint`),
        row("CPU time of a day with a million mints", "h", perDay(busy.cpuSeconds, busy) / 3600, `${((busy.cpuSeconds / busy.seconds) * 100).toFixed(1)} % of one core; without requests ${((idle.cpuSeconds / idle.seconds) * 100).toFixed(1)} %`),
    ];
}
function perDay(count, { seconds }) {
    return (count / seconds) * DAY;
}
