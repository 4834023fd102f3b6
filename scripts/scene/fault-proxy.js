import { setTimeout as wait } from "node:timers/promises";
import { NodeProxy, postToNode } from "./rpc-proxy.ts";
/** A proxy between the service and its node, which injects faults. */
export class FaultProxy extends NodeProxy {
    #random;
    #fault = null;
    /** How many HTTP requests the current fault has affected. */
    injected = 0;
    constructor(target, random) {
        super(target);
        this.#random = random;
    }
    static start(target, random) {
        return new FaultProxy(target, random).listen();
    }
    set fault(fault) {
        this.#fault = fault;
        this.injected = 0;
    }
    async handle(exchange) {
        const fault = this.#fault;
        const affected = fault !== null && exchange.calls.some((call) => canAffect(fault, call)) && this.#random.chance(fault.probability);
        if (!affected) {
            await this.pass(exchange);
            return;
        }
        this.injected++;
        await this.#inject(fault, exchange);
    }
    async #inject(fault, exchange) {
        const { calls, body, response, answer } = exchange;
        const answerAll = (one) => answer(calls.map(({ id }) => ({ jsonrpc: "2.0", id, ...one })));
        switch (fault.kind) {
            case "drop":
                response.destroy();
                return;
            case "delay":
                await wait(fault.amount ?? 500);
                await this.pass(exchange);
                return;
            case "duplicate":
                await this.#forward(body);
                await this.pass(exchange);
                return;
            case "status-500":
                response.writeHead(500).end("internal error");
                return;
            case "status-429":
                response.writeHead(429, { "retry-after": "1" }).end('{"error":"rate limit"}');
                return;
            case "garbage":
                response.setHeader("content-type", "application/json").end('{"jsonrpc":"2.0","id":');
                return;
            case "lose-broadcast":
                // Answers that it accepted the transaction, and drops it.
                answerAll({ result: `0x${"00".repeat(32)}` });
                return;
            case "answer-broadcast-with-error":
                await this.#forward(body);
                answerAll({ error: { code: -32000, message: "internal error" } });
                return;
            case "refuse-broadcast":
                answerAll({ error: { code: -32000, message: "transaction type not supported" } });
                return;
            case "hide-receipts":
                answerAll({ result: null });
                return;
            case "old-nonce":
                answerAll({ result: "0x0" });
                return;
            case "lag": {
                const answers = JSON.parse(await this.#forward(body));
                answer([answers].flat().map((one) => {
                    const call = calls.find(({ id }) => id === one.id);
                    if (call?.method !== "eth_blockNumber")
                        return one;
                    const head = Math.max(0, Number(one.result) - (fault.amount ?? 2));
                    return { ...one, result: `0x${head.toString(16)}` };
                }));
                return;
            }
        }
    }
    async #forward(body) {
        return (await postToNode(this.target, body)).text();
    }
}
/**
 * A fault that rewrites answers rewrites all answers of an HTTP request. So its methods must be ones that the service sends
 * alone, or in batches of the same method.
 */
function canAffect(fault, call) {
    const { methods, naming } = fault;
    if (methods !== undefined && !methods.includes(call.method))
        return false;
    return naming === undefined || JSON.stringify(call.params).includes(naming);
}
