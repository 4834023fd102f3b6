import { zeroPadValue, ZeroHash } from "ethers";
import { MOVE_TOPICS } from "../../../api/chain/codec/decode.ts";
const [TRANSFER] = MOVE_TOPICS;
const FROM_NOBODY = zeroPadValue(ZeroHash, 32);
/** What the mints of the blocks `from` to `to` make up. @throws Error when a block has another gas limit than the pace. */
export async function fullnessOf(node, pace, from, to) {
    const heights = Array.from({ length: to - from + 1 }, (_, index) => from + index);
    const blocks = await Promise.all(heights.map((height) => blockAt(node, pace, height)));
    const sum = (pick) => blocks.reduce((total, block) => total + pick(block), 0);
    const shares = blocks.map(({ gasUsed }) => gasUsed / pace.gas);
    const [gasUsed, mints] = [sum((block) => block.gasUsed), sum((block) => block.mints)];
    return {
        blocks: blocks.length,
        share: gasUsed / (blocks.length * pace.gas),
        most: Math.max(...shares),
        least: Math.min(...shares),
        mints: mints / blocks.length,
        transactions: sum((block) => block.transactions) / blocks.length,
        gasOfMint: gasUsed / mints,
        used: gasUsed / sum((block) => block.gasAllowed),
    };
}
export function nameOf({ gas, seconds }) {
    return `${(gas / 1_000_000).toString()} M gas every ${seconds.toString()} s`;
}
async function blockAt(node, pace, height) {
    const at = `0x${height.toString(16)}`;
    const [block, receipts] = (await Promise.all([
        node.provider.send("eth_getBlockByNumber", [at, true]),
        node.provider.send("eth_getBlockReceipts", [at]),
    ]));
    if (Number(block.gasLimit) !== pace.gas)
        throw new Error(`block ${height.toString()} has another gas limit`);
    const figures = { gasUsed: 0, gasAllowed: 0, mints: 0, transactions: 0 };
    for (const [index, { gasUsed, logs }] of receipts.entries()) {
        const mints = logs.filter(({ topics: [topic, from] }) => topic === TRANSFER && from === FROM_NOBODY).length;
        if (mints === 0)
            continue;
        figures.mints += mints;
        figures.transactions += 1;
        figures.gasUsed += Number(gasUsed);
        figures.gasAllowed += Number(block.transactions[index]?.gas ?? 0);
    }
    return figures;
}
