import { randomBytes } from "node:crypto";
import { mintAll, WARM_UP } from "../harness/measure.ts";
import { World } from "../harness/world.ts";
import { anvilBinary } from "../../scene/anvil.ts";
import { NodeProcess } from "../../scene/node.ts";
import { bareChain } from "../pipeline/bare/chain.ts";
import { nameOf } from "./blocks.ts";
import { fillBare, fillBlocks } from "./filling.ts";
import { mintAt } from "./lone.ts";
const SIZES = [
    { gas: 30_000_000, seconds: 1, blocks: 15, bareBlocks: 6, lone: 10 },
    { gas: 60_000_000, seconds: 2, blocks: 10, bareBlocks: 5, lone: 8 },
    { gas: 60_000_000, seconds: 12, blocks: 5, bareBlocks: 2, lone: 4 },
];
const QUICK = [{ gas: 30_000_000, seconds: 1, blocks: 3, bareBlocks: 2, lone: 2 }];
/** How well the service uses a chain with blocks of a fixed size and at fixed times. */
export const chainLimits = { name: "blocks", measure: run };
async function run({ quick, databases }) {
    // The package exists for one platform only.
    if (anvilBinary() === null)
        return [];
    const world = await World.start({ databases, node: () => NodeProcess.underLoad() });
    try {
        const { node } = world;
        const [to, collection] = [await world.wallet(), await world.collection()];
        const chain = await bareChain(node, to);
        await mintAll(world, collection, to, WARM_UP, 0);
        const body = { collection_address: collection, to_address: to };
        const rows = [];
        const strangers = [];
        let minted = WARM_UP;
        for (const size of quick ? QUICK : SIZES) {
            const fresh = await fillBlocks({ world, node }, size, size.blocks, {
                mints: toNewOwners(collection, strangers),
                minted,
            });
            const mints = toKnownOwners(collection, strangers);
            const filled = await fillBlocks({ world, node }, size, size.blocks, { mints, minted: fresh.minted });
            const bare = await fillBare(node, chain, { ...size, blocks: size.bareBlocks });
            const pairs = await lonePairs({ world, node }, chain, size, body);
            minted = filled.minted + size.lone;
            rows.push(...fillingRows(size, "new owners", fresh.full, bare), ...fillingRows(size, "known owners", filled.full, bare), ...loneRows(size, pairs));
        }
        return rows;
    }
    finally {
        await world.stop();
    }
}
/** Each token goes to another stranger, who has none of the collection: its account is looked at, and a slot is written. */
function toNewOwners(collection, strangers) {
    const next = () => {
        const address = `0x${randomBytes(20).toString("hex")}`;
        strangers.push(address);
        return { collection_address: collection, to_address: address };
    };
    return { body: next, leastGas: 30_000 };
}
/** The strangers in turn, who have a token each: less than half of the gas, so more than twice as many mints in a block. */
function toKnownOwners(collection, strangers) {
    let turn = 0;
    return {
        body: () => ({ collection_address: collection, to_address: strangers[turn++ % strangers.length] }),
        leastGas: 14_000,
    };
}
/** The moments are spread over the time between two blocks, and their order is mixed. */
async function lonePairs(site, chain, size, body) {
    await site.node.mineAt(size);
    const moments = Array.from({ length: size.lone }, (_, index) => (index + Math.random()) / size.lone);
    const pairs = [];
    for (const moment of moments)
        pairs.push(await mintAt(site, chain, size, { body, moment }));
    await site.node.mineAtOnce();
    return pairs;
}
function percent(share) {
    return `${(share * 100).toFixed(1)} %`;
}
/** @param owners who gets the tokens. @param bare ready relay batches of mints to one owner. */
function fillingRows(size, owners, full, bare) {
    const name = `${owners}, ${nameOf(size)}`;
    return [
        {
            what: `share of the blocks' gas that carries mints to ${name}`,
            unit: "",
            measured: full.share,
            goal: { atLeast: 0.9 },
            note: `${full.blocks.toString()} blocks, from ${percent(full.least)} to ${percent(full.most)}, ` +
                `${full.transactions.toFixed(1)} transactions each; they use ${percent(full.used)} of their gas limits, ` +
                `${full.gasOfMint.toFixed(0)} gas for a mint. Ready relay batches: ${percent(bare.share)} of the gas`,
        },
        {
            what: `mints in a block, to ${name}`,
            unit: "",
            measured: full.mints,
        },
    ];
}
function loneRows(size, pairs) {
    const name = nameOf(size);
    const mean = (pick) => pairs.reduce((sum, pair) => sum + pick(pair), 0) / pairs.length;
    const added = pairs.map(({ service, bare }) => service.blocks - bare.blocks);
    return [
        {
            what: `blocks that the service adds to a lone mint, ${name}`,
            unit: "blocks",
            measured: mean(({ service, bare }) => service.blocks - bare.blocks),
            goal: { atMost: 1 },
            note: `${pairs.length.toString()} mints, each beside a transaction through ethers at the same moment; at most ` +
                `${Math.max(...added).toString()} more. The call to the block: ${mean(({ service }) => service.blocks).toFixed(2)} blocks, ` +
                `through ethers ${mean(({ bare }) => bare.blocks).toFixed(2)}`,
        },
        {
            what: `a lone mint, accepted to completed, ${name}`,
            unit: "s",
            measured: mean(({ service }) => service.seconds),
            baseline: { what: "a transaction through ethers, until its receipt", measured: mean(({ bare }) => bare.seconds) },
        },
    ];
}
