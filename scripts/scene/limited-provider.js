import { NodeProxy, postToNode } from "./rpc-proxy.ts";
/** A proxy in front of a real node that refuses what a provider refuses, in the words of known providers. */
export class LimitedProvider extends NodeProxy {
    limits;
    /** How often each limit refused something. */
    refused = { blocks: 0, addresses: 0, results: 0, batch: 0, rate: 0 };
    /** Largest log query that was answered. */
    answered = { blocks: 0, addresses: 0 };
    #second = 0;
    #calls = 0;
    constructor(target, limits) {
        super(target);
        this.limits = limits;
    }
    static start(target, limits) {
        return new LimitedProvider(target, limits).listen();
    }
    get refusals() {
        return Object.values(this.refused).reduce((sum, count) => sum + count, 0);
    }
    async handle({ calls, response, answer, refuse }) {
        const { batch } = this.limits;
        if (batch !== undefined && calls.length > batch) {
            this.refused.batch += 1;
            // Geth's words.
            refuse({ code: -32_600, message: "batch too large" });
            return;
        }
        if (this.#exceedsRate(calls.length)) {
            this.refused.rate += 1;
            response.writeHead(429, { "retry-after": "1" }).end("Too Many Requests");
            return;
        }
        answer(await Promise.all(calls.map((call) => this.#answer(call))));
    }
    #exceedsRate(calls) {
        const { callsPerSecond } = this.limits;
        if (callsPerSecond === undefined)
            return false;
        const second = Math.floor(performance.now() / 1000);
        if (second !== this.#second)
            [this.#second, this.#calls] = [second, 0];
        this.#calls += calls;
        return this.#calls > callsPerSecond;
    }
    async #answer(call) {
        const query = call.method === "eth_getLogs" ? call.params[0] : null;
        const refusal = query === null ? null : this.#refusal(query);
        if (refusal !== null)
            return { jsonrpc: "2.0", id: call.id, error: refusal };
        const answer = await postToNode(this.target, JSON.stringify(call));
        const json = (await answer.json());
        if (query === null)
            return json;
        const { results = Infinity } = this.limits;
        if ((json.result?.length ?? 0) > results) {
            this.refused.results += 1;
            // Infura's words.
            const message = `query returned more than ${results.toString()} results. Try with this block range [0x0, 0x1].`;
            return { jsonrpc: "2.0", id: call.id, error: { code: -32_005, message } };
        }
        this.answered.blocks = Math.max(this.answered.blocks, blocksOf(query));
        this.answered.addresses = Math.max(this.answered.addresses, addressesOf(query));
        return json;
    }
    #refusal(query) {
        const { blocks = Infinity, addresses = Infinity } = this.limits;
        if (blocksOf(query) > blocks) {
            this.refused.blocks += 1;
            // Alchemy's words.
            const message = `Under the Free tier plan, you can make eth_getLogs requests with up to a ${blocks.toString()} block range.`;
            return { code: -32_600, message };
        }
        if (addressesOf(query) > addresses) {
            this.refused.addresses += 1;
            // Geth's words.
            return { code: -32_602, message: "exceed max addresses or topics per search position" };
        }
        return null;
    }
}
function blocksOf({ fromBlock, toBlock, blockHash }) {
    return blockHash === undefined ? Number(toBlock) - Number(fromBlock) + 1 : 1;
}
function addressesOf({ address }) {
    if (address === undefined)
        return 0;
    return Array.isArray(address) ? address.length : 1;
}
