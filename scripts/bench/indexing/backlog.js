import { HDNodeWallet, Mnemonic, Transaction } from "ethers";
import { withLocalOwner } from "../../../api/chain/local-contracts.ts";
import { ERC721Collection__factory } from "../../../contracts/generated/factories/ERC721Collection__factory.ts";
import { PlainERC721__factory } from "../../../contracts/generated/factories/mocks/PlainERC721__factory.ts";
import { Relay__factory } from "../../../contracts/generated/factories/Relay__factory.ts";
import { until } from "../../scene/until.ts";
import { callOf, executeOf } from "./calldata.ts";
/** The public mnemonic of local nodes. Account 7 is used by nothing else here. */
const MNEMONIC = Mnemonic.fromPhrase("test test test test test test test test test test test junk");
const ACCOUNT = "m/44'/60'/0'/0/7";
const CHAIN_ID = 31337n;
const FEES = { maxFeePerGas: 20000000000n, maxPriorityFeePerGas: 1000000000n };
const BASE_FEE = "0x3b9aca00";
/** Gas limit of one call, and of one transaction. */
const CALL_GAS = 110_000;
const TRANSACTION_GAS = 16000000n;
/** Calls of one transaction. */
const CALLS = 140;
/** Transactions that wait for their blocks at once. */
const WAITING = 20;
const MINED = { within: 60_000, every: 5 };
const EXECUTE = Relay__factory.createInterface().getFunction("execute").selector;
const MINT = ERC721Collection__factory.createInterface().getFunction("mint").selector;
const TRANSFER = ERC721Collection__factory.createInterface().getFunction("transferFrom").selector;
const MINT_FOREIGN = PlainERC721__factory.createInterface().getFunction("mintToWallet").selector;
/**
 * Makes the blocks that the service misses: mints and transfers by an outsider in collections of the service, and mints in
 * contracts of others. A relay of the outsider's own runs many of these calls in one transaction. The service does not know it.
 */
export class Outsider {
    #node;
    #signer;
    #relay;
    #number = 1;
    #foreignTokens = 0;
    /** Tokens of each collection so far. */
    #minted = new Map();
    constructor(node, signer, relayAddress) {
        this.#node = node;
        this.#signer = signer;
        this.#relay = relayAddress;
    }
    static async start(node) {
        const signer = HDNodeWallet.fromMnemonic(MNEMONIC, ACCOUNT).connect(node.provider);
        const address = await withLocalOwner(node.url, async (owner) => {
            const deployed = await addressOf(new Relay__factory(owner).deploy(owner.address, "https://bench.example/"));
            await (await Relay__factory.connect(deployed, owner).setOperator(signer.address, true)).wait();
            return deployed;
        });
        return new Outsider(node, signer, address);
    }
    /** Lets the outsider mint in a collection of the service, and its relay move what the outsider holds there. */
    async admitTo(collection) {
        await withLocalOwner(this.#node.url, async (owner) => {
            await (await ERC721Collection__factory.connect(collection, owner).setMinter(this.#relay, true)).wait();
        });
        const contract = ERC721Collection__factory.connect(collection, this.#signer);
        await (await contract.setApprovalForAll(this.#relay, true)).wait();
        this.#minted.set(collection, 0);
    }
    /** Deploys contracts that are not the service's. */
    async foreignContracts(count) {
        return withLocalOwner(this.#node.url, async (owner) => {
            const contracts = [];
            while (contracts.length < count)
                contracts.push(await addressOf(new PlainERC721__factory(owner).deploy()));
            return contracts;
        });
    }
    /** Mints in the service's collections, evenly, to the wallets in turn. */
    mints(wallets, events) {
        return this.#mine(numbersTo(events).map((index) => this.#mint(index, at(wallets, index)).call));
    }
    /** Mints to the outsider in the service's collections, and then a transfer of each of these tokens to a wallet. */
    sales(wallets, events) {
        const minted = numbersTo(Math.floor(events / 2)).map((index) => this.#mint(index, this.#signer.address));
        const sold = minted.map(({ call: { target }, tokenId }, index) => ({
            target,
            data: callOf(TRANSFER, this.#signer.address, at(wallets, index), tokenId),
        }));
        return this.#mine([...minted.map(({ call }) => call), ...sold]);
    }
    /** Mints in contracts of others, evenly, to the wallets in turn. */
    foreignMints(contracts, wallets, events) {
        const calls = numbersTo(events).map((index) => {
            this.#foreignTokens += 1;
            const data = callOf(MINT_FOREIGN, at(wallets, index), this.#foreignTokens);
            return { target: at(contracts, index), data };
        });
        return this.#mine(calls);
    }
    #mint(index, to) {
        const target = at([...this.#minted.keys()], index);
        const tokenId = (this.#minted.get(target) ?? 0) + 1;
        this.#minted.set(target, tokenId);
        return { call: { target, data: callOf(MINT, to) }, tokenId };
    }
    async #mine(calls) {
        const { provider } = this.#node;
        const from = (await provider.getBlockNumber()) + 1;
        let nonce = await provider.getTransactionCount(this.#signer.address);
        for (let start = 0; start < calls.length; start += CALLS) {
            const raw = await this.#signed(nonce, calls.slice(start, start + CALLS));
            // Full blocks would raise it above what the transactions pay.
            await provider.send("hardhat_setNextBlockBaseFeePerGas", [BASE_FEE]);
            await provider.send("eth_sendRawTransaction", [raw]);
            nonce += 1;
            await this.#untilMined(nonce - WAITING);
        }
        await this.#untilMined(nonce);
        return { from, to: await provider.getBlockNumber(), events: calls.length };
    }
    #signed(nonce, calls) {
        const data = executeOf(EXECUTE, calls, this.#number, CALL_GAS);
        this.#number += calls.length;
        const fields = { type: 2, chainId: CHAIN_ID, nonce, to: this.#relay, data, gasLimit: TRANSACTION_GAS, ...FEES };
        return this.#signer.signTransaction(Transaction.from(fields));
    }
    /** Waits until all transactions below a nonce are mined. */
    async #untilMined(nonce) {
        const isMined = async () => (await this.#node.provider.getTransactionCount(this.#signer.address)) >= nonce;
        await until("the node mines the transactions of the backlog", isMined, MINED);
    }
}
async function addressOf(contract) {
    return (await (await contract).waitForDeployment()).getAddress();
}
function numbersTo(count) {
    return Array.from({ length: count }, (_, index) => index);
}
function at(values, index) {
    const value = values[index % values.length];
    if (value === undefined)
        throw new Error("there is nothing to choose from");
    return value;
}
