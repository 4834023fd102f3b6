import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { listenOnLoopback } from "./loopback.ts";
/** Milliseconds to wait for a call. It only ends a wait for a call that never comes. */
const PATIENCE = 240_000;
/** A webhook receiver, and whatever else an app has outside of the service. It keeps every call, and verifies no signature. */
export class WebhookReceiver {
    calls = [];
    /** Status of the answers, unless `respond` is replaced. */
    status = 204;
    /** Answers one call, which is in `calls` already. */
    respond = (_call, response) => response.writeHead(this.status).end();
    #waiting = new Set();
    #server = null;
    /** Listens on a free port of this machine. */
    static async listen() {
        const receiver = new WebhookReceiver();
        const server = createServer((request, response) => {
            void text(request).then((content) => {
                receiver.#receive(request, content, response);
            });
        });
        receiver.#server = await listenOnLoopback(server);
        return receiver;
    }
    get origin() {
        return this.#server?.url ?? "";
    }
    get url() {
        return `${this.origin}/hook`;
    }
    /** The first call that fits, among those that arrived and those that will. @throws after four minutes. */
    async received(fits) {
        const deadline = AbortSignal.timeout(PATIENCE);
        for (;;) {
            const call = this.calls.find(fits);
            if (call !== undefined)
                return call;
            if (deadline.aborted) {
                const arrived = this.calls.map((other) => other.text).join("\n");
                throw new Error(`No call that fits ${fits.toString()} arrived in time. These arrived:\n${arrived}`);
            }
            await this.#next(deadline);
        }
    }
    /** Resolves when this many calls have arrived. @throws after four minutes. */
    async count(calls) {
        await this.received(() => this.calls.length >= calls);
    }
    async close() {
        await this.#server?.stop();
    }
    #receive({ method = "", url: path = "", headers }, content, response) {
        const body = (content === "" ? {} : JSON.parse(content));
        const call = { method, path, headers, text: content, body };
        this.calls.push(call);
        this.respond(call, response);
        for (const wake of [...this.#waiting])
            wake();
    }
    #next(deadline) {
        return new Promise((resolve) => {
            const done = () => {
                this.#waiting.delete(done);
                deadline.removeEventListener("abort", done);
                resolve();
            };
            this.#waiting.add(done);
            deadline.addEventListener("abort", done);
        });
    }
}
