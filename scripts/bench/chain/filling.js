import { RELAY_BATCH, readyBatches } from "../pipeline/bare/chain.ts";
import { fullnessOf } from "./blocks.ts";
/** Items of a batch: as many as the API takes. */
const ITEMS = 1_000;
/** Blocks beyond those that are counted, for which mints are accepted: they hold what is sent before and after. */
const MORE_BLOCKS = 5;
/** Seconds from the acceptance of the last mint to the first block that counts. */
const FILLING = 2;
/** Gas that a relay batch of the baseline needs beside its mints: what is left over when the last one starts, and a margin. */
const BATCH_RESERVE = 700_000;
/** Each full block raises the fee by an eighth, so each filling begins with this one, in wei. A lane could not pay for all of them. */
const FIRST_FEE = 1_000_000_000;
/** Milliseconds without progress after which the rest of the backlog is given up. */
const STALLED = 30_000;
/**
 * How full the blocks are while there is a backlog. All mints are accepted first.
 * @param minted how many mints the app had completed. @returns with it: how many it has completed now.
 */
export async function fillBlocks({ world, node }, pace, blocks, { mints, minted }) {
    await node.provider.send("anvil_setNextBlockBaseFeePerGas", [`0x${FIRST_FEE.toString(16)}`]);
    await node.mineAt(pace);
    const batches = Math.ceil((pace.gas * (blocks + MORE_BLOCKS)) / mints.leastGas / ITEMS);
    for (let batch = 0; batch < batches; batch++) {
        const items = Array.from({ length: ITEMS }, mints.body);
        await world.load.send({ method: "POST", path: "/v1/nfts/batch", body: { items } });
    }
    const full = await countBlocks(node, pace, blocks, FILLING);
    const total = minted + batches * ITEMS;
    if ((await world.completed("mint")) >= total)
        throw new Error("the backlog ended before the last block that counts: it was too small");
    await drain(node, () => world.completed("mint"), total);
    return { full, minted: total };
}
/**
 * The same through ready relay batches of mints to one owner: as many in the node's pool as two blocks can hold, and always
 * more to come. They are of a size with which they fill a block.
 */
export async function fillBare(node, chain, pace) {
    const gasOfMint = await gasOfReadyMint(chain);
    const inBlock = Math.ceil(pace.gas / (RELAY_BATCH * gasOfMint + BATCH_RESERVE));
    const gasLimit = Math.floor(pace.gas / inBlock);
    const size = Math.floor((gasLimit - BATCH_RESERVE) / gasOfMint);
    const raws = await readyBatches(chain, size * inBlock * (pace.blocks + MORE_BLOCKS), size, BigInt(gasLimit));
    const before = await chain.provider.getTransactionCount(chain.operator.address);
    await node.mineAt(pace);
    const counted = { done: false };
    let sent = 0;
    const push = async () => {
        for (;;) {
            const mined = (await chain.provider.getTransactionCount(chain.operator.address)) - before;
            while (sent < raws.length && sent - mined < 2 * inBlock) {
                await chain.provider.send("eth_sendRawTransaction", [raws[sent++]]);
            }
            if (counted.done || sent === raws.length)
                return;
            await node.nextBlock();
        }
    };
    const pushing = push();
    const full = await countBlocks(node, pace, pace.blocks, pace.seconds);
    counted.done = true;
    await pushing;
    await drain(node, async () => (await chain.provider.getTransactionCount(chain.operator.address)) - before, sent);
    return full;
}
/** What a mint in a ready batch uses. The node mines at once. */
async function gasOfReadyMint(chain) {
    const [raw = ""] = await readyBatches(chain, RELAY_BATCH, RELAY_BATCH);
    const receipt = await (await chain.provider.broadcastTransaction(raw)).wait();
    return Number(receipt?.gasUsed ?? 0n) / RELAY_BATCH;
}
/** @param after seconds until the first block that counts. */
async function countBlocks(node, pace, blocks, after) {
    let first = (await node.nextBlock()) + 1;
    // The pool fills up in the seconds after the mints were accepted.
    for (let seconds = pace.seconds; seconds < after; seconds += pace.seconds)
        first = (await node.nextBlock()) + 1;
    const last = await node.nextBlock(first + blocks - 1);
    return fullnessOf(node, pace, first, last - 1);
}
/** Mines until everything is done. @throws Error when there is no more progress. */
async function drain(node, done, total) {
    await node.mineAtOnce();
    let [last, since] = [-1, performance.now()];
    for (;;) {
        const now = await done();
        if (now >= total)
            return;
        if (now !== last)
            [last, since] = [now, performance.now()];
        if (performance.now() - since > STALLED)
            throw new Error(`stalled at ${now.toString()} of ${total.toString()}`);
        await node.mine();
    }
}
