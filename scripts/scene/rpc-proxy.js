import { createServer, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "./loopback.ts";
/**
 * Serves JSON-RPC on a free port.
 * @param handle sends the response. When it fails, the connection is closed.
 * @param passOn gives what passes a request on without reading it; null when `handle` gets the request.
 */
export async function serveRpc(handle, passOn = () => null) {
    const receive = async (body, response) => {
        const parsed = JSON.parse(body);
        const isBatch = Array.isArray(parsed);
        const send = (json) => response.setHeader("content-type", "application/json").end(JSON.stringify(json));
        await handle({
            body,
            calls: isBatch ? parsed : [parsed],
            response,
            answer: (answers) => send(isBatch ? answers : answers[0]),
            refuse: (error) => send({ jsonrpc: "2.0", id: null, error }),
        });
    };
    const server = createServer((request, response) => {
        const pass = passOn();
        if (pass !== null) {
            pass(request, response);
            return;
        }
        text(request)
            .then((body) => receive(body, response))
            .catch(() => response.destroy());
    });
    return listenOnLoopback(server);
}
/** Sends a body to a node as it is, through a connection of its own, like `passTo`. */
export function postToNode(url, body) {
    return fetch(url, { method: "POST", headers: { "content-type": "application/json", connection: "close" }, body });
}
/** A proxy in front of a node, which changes some of what passes through it. */
export class NodeProxy {
    /** URL of the node. */
    target;
    #server = null;
    constructor(target) {
        this.target = target;
    }
    get url() {
        return this.#server?.url ?? "";
    }
    async stop() {
        await this.#server?.stop();
    }
    async listen() {
        this.#server = await serveRpc((exchange) => this.handle(exchange));
        return this;
    }
    /** Passes everything on unchanged, with the status and the headers of a refusal. @returns the answer. */
    async pass({ body, response }) {
        const answer = await postToNode(this.target, body);
        const retryAfter = answer.headers.get("retry-after");
        if (retryAfter !== null)
            response.setHeader("retry-after", retryAfter);
        const text = await answer.text();
        response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
        return text;
    }
}
export async function startRpcProxy(nodeUrl) {
    const proxy = { url: "", intercept: null, stop: () => Promise.resolve() };
    const listening = await serveRpc(async ({ calls, answer }) => {
        const answers = new Map();
        for (const call of calls) {
            const own = await proxy.intercept?.(call);
            if (own !== undefined)
                answers.set(call.id, { jsonrpc: "2.0", id: call.id, ...own });
        }
        const rest = calls.filter(({ id }) => !answers.has(id));
        if (rest.length > 0) {
            const forwarded = await postToNode(nodeUrl, JSON.stringify(rest));
            for (const one of (await forwarded.json()))
                answers.set(one.id, one);
        }
        answer(calls.map(({ id }) => answers.get(id)));
    }, () => (proxy.intercept === null ? passTo(nodeUrl) : null));
    return Object.assign(proxy, listening);
}
/** Each request has a connection of its own: the node may close one that was idle at the moment in which it is used again. */
function passTo(nodeUrl) {
    return (request, response) => {
        const { "content-length": length } = request.headers;
        const sized = length === undefined ? {} : { "content-length": length };
        const headers = { "content-type": "application/json", ...sized };
        const forwarded = httpRequest(nodeUrl, { method: "POST", agent: false, headers }, (answered) => {
            response.writeHead(answered.statusCode ?? 502, { "content-type": "application/json" });
            answered.on("error", () => response.destroy()).pipe(response);
        });
        forwarded.on("error", () => response.destroy());
        response.on("close", () => {
            // The service has given up.
            if (!response.writableFinished)
                forwarded.destroy();
        });
        request.pipe(forwarded);
    };
}
