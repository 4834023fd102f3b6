import { AbiCoder, HDNodeWallet, Mnemonic, NonceManager, Transaction } from "ethers";
import { deployLocally, withLocalOwner } from "../../../../api/chain/local-contracts.ts";
import { encodeServiceCall } from "../../../../api/chain/codec/encode.ts";
import { CREATED_TOPIC } from "../../../../api/chain/codec/decode.ts";
import { MAX_BATCH } from "../../../../api/domain/request.ts";
import { ERC721Collection__factory } from "../../../../contracts/generated/factories/ERC721Collection__factory.ts";
import { Relay__factory } from "../../../../contracts/generated/factories/Relay__factory.ts";
/*
 * Measures the node alone, as a baseline: the same contracts and calls as with the service, but without the service.
 */
/** The public mnemonic of local nodes. Account 7 is used by nothing else here. */
const MNEMONIC = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
const ACCOUNT = "m/44'/60'/0'/0/7";
/** Mints in a relay batch. */
export const RELAY_BATCH = MAX_BATCH;
const MINT_GAS = 200_000;
const BATCH_GAS = 16000000n;
const FEES = { maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n };
const CHAIN_ID = 31337n;
/** Transactions that wait for their block at once. */
const IN_FLIGHT = 4;
/** Separate contracts on the same chain, with one collection. */
export async function bareChain(node, to) {
    const operator = HDNodeWallet.fromMnemonic(MNEMONIC, ACCOUNT).connect(node.provider);
    const contracts = await withLocalOwner(node.url, async (owner) => {
        const deployed = await deployLocally(owner, "https://bench.example/");
        await (await Relay__factory.connect(deployed.relay, owner).setOperator(operator.address, true)).wait();
        return deployed;
    });
    const create = encodeServiceCall({
        kind: "create-collection",
        type: "ERC721",
        hosting: "self-hosted",
        name: "Bare",
        symbol: "BAR",
        maxSupply: null,
        baseUri: "https://bench.example/",
        collectionUri: null,
        metadata: {},
        newOwner: null,
        soulbound: false,
    }, contracts);
    const relay = Relay__factory.connect(contracts.relay, operator);
    const sent = await relay.execute([{ number: 1n, gasLimit: 1000000n, ...create }], { gasLimit: 2000000n });
    const receipt = await sent.wait();
    const created = receipt?.logs.find(({ topics }) => topics[0] === CREATED_TOPIC);
    if (created === undefined)
        throw new Error("the bare collection was not created");
    const [collectionAddress] = AbiCoder.defaultAbiCoder().decode(["address"], created.data);
    await withLocalOwner(node.url, async (owner) => {
        const collection = ERC721Collection__factory.connect(collectionAddress, owner);
        await (await collection.setMinter(operator.address, true)).wait();
    });
    return { provider: node.provider, contracts, collection: collectionAddress, operator, to };
}
/** Sends relay batches that were encoded and signed beforehand. @returns mints a second. */
export async function relayBatches(chain, mints, size) {
    return rate(chain, await readyBatches(chain, mints, size), mints);
}
/** Signed relay batches, in the order of their nonces. */
export async function readyBatches(chain, mints, size, gasLimit = BATCH_GAS) {
    const { data, target } = encodeServiceCall({ kind: "mint-erc721", collection: chain.collection, to: chain.to, metadata: null }, chain.contracts, true);
    const relay = Relay__factory.createInterface();
    const first = await chain.provider.getTransactionCount(chain.operator.address);
    const raws = [];
    for (let start = 0; start < mints; start += size) {
        const calls = Array.from({ length: Math.min(size, mints - start) }, (_, index) => ({
            number: BigInt(first) * 1000000n + BigInt(start + index + 1_000),
            target,
            gasLimit: MINT_GAS,
            data,
        }));
        const execute = relay.encodeFunctionData("execute", [calls]);
        raws.push(await signed(chain, { nonce: first + raws.length, data: execute, gasLimit }));
    }
    return raws;
}
/**
 * Sends one transaction per mint. Each is signed just before it is sent and does not wait for the previous one.
 * @returns mints a second.
 */
export async function oneByOne(chain, mints) {
    const collection = ERC721Collection__factory.connect(chain.collection, new NonceManager(chain.operator));
    const before = await collection.totalMinted();
    const started = performance.now();
    const waiting = [];
    for (let index = 0; index < mints; index++) {
        const sent = await collection.mint(chain.to, { gasLimit: MINT_GAS, ...FEES });
        waiting.push(sent.wait());
    }
    await Promise.all(waiting);
    const seconds = (performance.now() - started) / 1000;
    await check(chain, before + BigInt(mints));
    return mints / seconds;
}
/** One transaction sent and awaited through ethers, as its documentation shows. @returns milliseconds. */
export async function sendAndWait(chain) {
    const collection = ERC721Collection__factory.connect(chain.collection, chain.operator);
    const started = performance.now();
    await (await collection.mint(chain.to)).wait();
    return performance.now() - started;
}
async function signed(chain, fields) {
    const to = chain.contracts.relay;
    return chain.operator.signTransaction(Transaction.from({ type: 2, chainId: CHAIN_ID, to, ...fields, ...FEES }));
}
async function rate(chain, raws, mints) {
    const collection = ERC721Collection__factory.connect(chain.collection, chain.provider);
    const before = await collection.totalMinted();
    const started = performance.now();
    let next = 0;
    const lane = async () => {
        while (next < raws.length) {
            const raw = raws[next++];
            const hash = (await chain.provider.send("eth_sendRawTransaction", [raw]));
            await mined(chain, hash);
        }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
    const seconds = (performance.now() - started) / 1000;
    await check(chain, before + BigInt(mints));
    return mints / seconds;
}
async function mined(chain, hash) {
    for (let tries = 0; tries < 10_000; tries++) {
        if ((await chain.provider.send("eth_getTransactionReceipt", [hash])) !== null)
            return;
    }
    throw new Error(`${hash} was not mined`);
}
async function check(chain, wanted) {
    const minted = await ERC721Collection__factory.connect(chain.collection, chain.provider).totalMinted();
    if (minted !== wanted)
        throw new Error(`${minted.toString()} tokens were minted, not ${wanted.toString()}`);
}
