import { id } from "ethers";
import { NodeProxy, postToNode } from "./rpc-proxy.ts";
/** A proxy that makes one of several nodes fail. Behind all of them is the same real node. */
export class FaultyNode extends NodeProxy {
    #hanging = new Set();
    fault = null;
    /** Calls since the start, by method. */
    calls = new Map();
    /** Bytes of the answers that were passed on since the start. */
    bytes = 0;
    /** Calls of the newest state that came while it was behind. */
    readsWhileBehind = 0;
    static start(target) {
        return new FaultyNode(target).listen();
    }
    /** Calls since the start, of all methods. */
    get count() {
        return [...this.calls.values()].reduce((sum, one) => sum + one, 0);
    }
    async stop() {
        for (const { response } of this.#hanging)
            response.destroy();
        await super.stop();
    }
    async handle(exchange) {
        const { calls, response, answer } = exchange;
        for (const { method } of calls)
            this.calls.set(method, (this.calls.get(method) ?? 0) + 1);
        if (this.fault?.kind === "dies-at") {
            const { method } = this.fault;
            if (calls.some((call) => call.method === method))
                this.fault = { kind: "dead" };
        }
        const { fault } = this;
        if (fault === null || fault.kind === "dies-at" || fault.kind === "stalls") {
            if (fault?.kind === "stalls")
                await fault.until;
            this.bytes += Buffer.byteLength(await this.pass(exchange));
            return;
        }
        if (fault.kind === "dead") {
            response.destroy();
            return;
        }
        if (fault.kind === "hangs") {
            this.#hanging.add(exchange);
            response.on("close", () => this.#hanging.delete(exchange));
            return;
        }
        if (fault.kind === "rate-limit") {
            response.writeHead(429, { "retry-after": fault.retryAfter.toString() }).end("{}");
            return;
        }
        if (fault.kind === "no-batches" && calls.length > 1) {
            exchange.refuse({ code: -32600, message: "batch requests are not allowed" });
            return;
        }
        if (fault.kind === "behind")
            this.readsWhileBehind += calls.filter(({ method, params }) => method !== "eth_getBlockByNumber" && params.some((one) => one === "latest" || one === "pending")).length;
        const asked = calls.map((call) => this.#changed(call, fault));
        const forwarded = await postToNode(this.target, JSON.stringify(asked));
        const answers = new Map((await forwarded.json()).map((one) => [one.id, one]));
        answer(calls.map((call) => changedAnswer(call, answers.get(call.id) ?? { id: call.id }, fault)));
    }
    #changed(call, fault) {
        // The node must not see it: its answer is replaced.
        if (call.method === "eth_sendRawTransaction" &&
            (fault.kind === "loses-pool" || fault.kind === "refuses-transactions"))
            return { ...call, method: "eth_chainId", params: [] };
        if (fault.kind !== "behind")
            return call;
        const at = `0x${fault.at.toString(16)}`;
        return { ...call, params: call.params.map((one) => (one === "latest" || one === "pending" ? at : one)) };
    }
}
function changedAnswer({ method, params }, answer, fault) {
    const other = (result) => ({ jsonrpc: "2.0", id: answer.id, result });
    if (fault.kind === "lies") {
        const lie = fault.tell({ id: answer.id, method, params }, answer.result);
        return lie === undefined ? answer : { jsonrpc: "2.0", id: answer.id, ...lie };
    }
    if (fault.kind === "invents-fees" && method === "eth_maxPriorityFeePerGas")
        return other(fault.wei);
    if (fault.kind === "invents-costs" && method === "eth_getTransactionReceipt" && answer.result != null)
        return other({ ...answer.result, gasUsed: fault.gasUsed });
    if (fault.kind === "other-chain" && method === "eth_chainId")
        return other("0x539");
    if (method === "eth_sendRawTransaction") {
        if (fault.kind === "loses-pool")
            return other(`0x${"00".repeat(32)}`);
        if (fault.kind === "refuses-transactions") {
            const error = { code: -32000, message: "transaction type not supported" };
            return { jsonrpc: "2.0", id: answer.id, error };
        }
    }
    if (fault.kind === "behind") {
        if (method === "eth_blockNumber")
            return other(`0x${fault.at.toString(16)}`);
        if (method === "eth_getBlockByNumber" && Number(params[0]) > fault.at)
            return other(null);
        if (method === "eth_getTransactionReceipt" && numberOf(answer.result, "blockNumber") > fault.at)
            return other(null);
    }
    if (fault.kind === "old-branch" && method === "eth_getBlockByNumber") {
        const block = answer.result;
        const number = numberOf(block, "number");
        if (typeof block !== "object" || block === null || number < fault.from)
            return answer;
        const branch = (name) => `0xbad${String(block[name]).slice(5)}`;
        const parent = number > fault.from ? { parentHash: branch("parentHash") } : {};
        return other({ ...block, hash: branch("hash"), ...parent });
    }
    if ("above" in fault && method === "eth_getLogs" && Array.isArray(answer.result))
        return other(answer.result.flatMap((log) => toldLogs(log, fault)));
    return answer;
}
const TRANSFER = id("Transfer(address,address,uint256)");
/** Who gets tokens by logs that are invented. */
const THIEF = `0x${"bad".padStart(64, "0")}`;
/** An invented log comes after all others of its block. */
const INVENTED = 100_000;
/** What a node that lies tells of a log. */
function toldLogs(log, fault) {
    const isTransfer = log.topics[0] === TRANSFER;
    if (Number(log.blockNumber) <= fault.above)
        return [log];
    if (fault.kind === "forgets-logs")
        return fault.of === "everything" || isTransfer ? [] : [log];
    const [event = "", , owner = "", token = ""] = log.topics;
    const logIndex = `0x${(Number(log.logIndex) + INVENTED).toString(16)}`;
    // Another transaction than the service's, so it belongs to no request.
    const transactionHash = `0x${"bad".padEnd(64, "0")}`;
    return isTransfer ? [log, { ...log, topics: [event, owner, THIEF, token], transactionHash, logIndex }] : [log];
}
/** NaN when there is no such number. */
function numberOf(value, name) {
    return typeof value === "object" && value !== null ? Number(value[name]) : NaN;
}
