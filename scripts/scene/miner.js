import { setTimeout as wait } from "node:timers/promises";
/** Milliseconds between two polls for new transactions. */
const LOOK_EVERY = 20;
/** Milliseconds without a transaction after which an empty block is mined: who waits for a receipt looks at each new block. */
const IDLE = 500;
/**
 * Mines the blocks of an Anvil that does not mine by itself: as soon as a transaction arrives, when it is asked to, and now
 * and then. Only one thing happens to the chain at a time. Anvil's own mining goes on during a reorg, and the chain that
 * results lacks blocks; it also goes on while Anvil saves its state.
 */
export class Miner {
    #provider;
    #filter = "";
    #stopped = false;
    #turn = Promise.resolve();
    #watching = Promise.resolve();
    constructor(provider) {
        this.#provider = provider;
    }
    static async start(provider) {
        const miner = new Miner(provider);
        await miner.#watchPool();
        miner.#watching = miner.#watch();
        // `stop` throws it.
        miner.#watching.catch(() => undefined);
        return miner;
    }
    async mine() {
        await this.#inTurn(() => this.#provider.send("evm_mine", []));
    }
    /** Replaces the newest blocks by as many empty ones. Their transactions wait in the pool again. */
    async reorg(depth) {
        await this.#inTurn(() => this.#provider.send("anvil_reorg", [depth, []]));
    }
    /** Restarts the node. Nothing is mined meanwhile. */
    async restart(node) {
        await this.#inTurn(async () => {
            await node();
            await this.#watchPool();
        });
    }
    /** Call it before the node is stopped. @throws what ended the mining early. */
    async stop() {
        this.#stopped = true;
        await this.#watching;
    }
    async #watchPool() {
        this.#filter = String(await this.#provider.send("eth_newPendingTransactionFilter", []));
    }
    async #watch() {
        let mined = performance.now();
        while (!this.#stopped) {
            await this.#inTurn(async () => {
                const arrived = (await this.#provider.send("eth_getFilterChanges", [this.#filter]));
                if (arrived.length === 0 && performance.now() - mined < IDLE)
                    return;
                await this.#mineWaiting();
                mined = performance.now();
            });
            await wait(LOOK_EVERY);
        }
    }
    /** Mines until the pool is empty, or what it has cannot be mined: transactions with too low a fee stay in it. */
    async #mineWaiting() {
        for (;;) {
            await this.#provider.send("evm_mine", []);
            const block = (await this.#provider.send("eth_getBlockByNumber", ["latest", false]));
            const { pending } = (await this.#provider.send("txpool_status", []));
            if (block.transactions.length === 0 || BigInt(pending) === 0n)
                return;
        }
    }
    #inTurn(work) {
        const result = this.#turn.then(work);
        this.#turn = result.catch(() => undefined);
        return result;
    }
}
