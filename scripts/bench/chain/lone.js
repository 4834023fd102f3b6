import { setTimeout as wait } from "node:timers/promises";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
/** Milliseconds between two polls of a request. */
const LOOK = 10;
/** Mints once through the service and once through ethers, both at the same moment between two blocks. */
export async function mintAt({ world, node }, chain, pace, { body, moment }) {
    const head = await node.nextBlock();
    await wait(moment * pace.seconds * 1_000);
    const [service, bare] = await Promise.all([
        timed(node, head, "the service", () => throughService(world, body)),
        timed(node, head, "ethers", () => throughEthers(chain)),
    ]);
    return { service, bare };
}
/** @param by who mints. */
async function timed(node, head, by, mint) {
    const started = performance.now();
    const hash = await mint();
    const seconds = (performance.now() - started) / 1_000;
    const receipt = await node.provider.getTransactionReceipt(hash);
    if (receipt === null) {
        const at = await node.head();
        throw new Error(`the transaction of ${by}, ${hash}, is in no block up to ${at.toString()}, ${seconds.toFixed(3)} s after the call`);
    }
    return { blocks: receipt.blockNumber - head, seconds };
}
/** @returns the hash of the transaction. */
async function throughService(world, body) {
    const { request_id: id } = await world.load.send({ method: "POST", path: "/v1/nfts", body });
    await world.final(id, LOOK);
    const request = await world.load.send({ method: "GET", path: `/v1/requests/${id}` });
    if (request.transaction_hash === null)
        throw new Error(`the request ${id} has no transaction`);
    return request.transaction_hash;
}
async function throughEthers(chain) {
    const collection = ERC721Collection__factory.connect(chain.collection, chain.operator);
    const sent = await collection.mint(chain.to);
    await sent.wait();
    return sent.hash;
}
