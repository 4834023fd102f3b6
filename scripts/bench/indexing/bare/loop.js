import { id } from "ethers";
/** Blocks of one query, stored in one commit. */
const BLOCKS = 50;
/** With more contracts than this, a query names none of them, as the service's queries do. */
const NAMED = 2_000;
const TRANSFER = id("Transfer(address,address,uint256)");
const NOBODY = `0x${"0".repeat(40)}`;
/**
 * The least that an indexer of NFT transfers does, as a baseline: it reads the logs, decodes them, and stores transfers and
 * holdings as sets, with a checkpoint, in one commit for each range. It knows no reorgs, no wallets and no requests.
 * @returns events a second.
 */
export async function bareLoop(node, store, contracts, backlog) {
    const followed = new Set(contracts.map((address) => address.toLowerCase()));
    let events = 0;
    const started = performance.now();
    for (let from = backlog.from; from <= backlog.to; from += BLOCKS) {
        const to = Math.min(backlog.to, from + BLOCKS - 1);
        const transfers = (await readLogs(node.url, followed, from, to)).map(decoded);
        await store.store(transfers, changesOf(transfers), to);
        events += transfers.length;
    }
    const seconds = (performance.now() - started) / 1000;
    if (events !== backlog.events) {
        throw new Error(`the chain has ${events.toString()} transfers, not ${backlog.events.toString()}`);
    }
    return events / seconds;
}
async function readLogs(url, followed, from, to) {
    const blocks = { fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` };
    const named = followed.size <= NAMED ? { address: [...followed] } : {};
    const params = [{ ...blocks, ...named, topics: [[TRANSFER], null, null, null] }];
    const answer = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params }),
    });
    const { result } = (await answer.json());
    if (result === undefined)
        throw new Error("the node did not answer a log query");
    return result.filter(({ address }) => followed.has(address));
}
function decoded({ address, topics, transactionHash, blockNumber, logIndex }) {
    return {
        contract: address,
        tokenId: BigInt(topics[3]).toString(),
        from: `0x${topics[1].slice(26)}`,
        to: `0x${topics[2].slice(26)}`,
        transactionHash,
        blockNumber: Number(blockNumber),
        logIndex: Number(logIndex),
    };
}
/** What each holder of each token gains or loses, added up. */
function changesOf(transfers) {
    const changes = new Map();
    const change = (contract, tokenId, owner, quantity) => {
        if (owner === NOBODY)
            return;
        const key = `${contract}/${tokenId}/${owner}`;
        const found = changes.get(key);
        if (found === undefined)
            changes.set(key, { contract, tokenId, owner, quantity });
        else
            found.quantity += quantity;
    };
    for (const { contract, tokenId, from, to } of transfers) {
        change(contract, tokenId, from, -1);
        change(contract, tokenId, to, 1);
    }
    return [...changes.values()].filter(({ quantity }) => quantity !== 0);
}
