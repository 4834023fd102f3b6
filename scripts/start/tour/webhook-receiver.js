import { once } from "node:events";
import { createServer, } from "node:http";
import { buffer } from "node:stream/consumers";
import { WebhookRefused } from "../../../client/errors.ts";
import { verifyWebhook } from "../../../client/webhooks.ts";
/**
 * An HTTP server that receives webhooks and accepts only valid signatures. Every app with a webhook needs one. This is the
 * example to copy, so it stands alone and is as strict as an app must be. Tests use scripts/scene/receiver.ts instead,
 * which keeps every call.
 */
export class WebhookReceiver {
    #server;
    #events = new Map();
    #waiting = new Set();
    #secret = null;
    #refused = 0;
    constructor() {
        this.#server = createServer((request, response) => {
            this.#receive(request, response).catch(() => response.destroy());
        });
    }
    /** Listens on a free port of this machine. */
    static async listen() {
        const receiver = new WebhookReceiver();
        receiver.#server.listen(0, "127.0.0.1");
        await once(receiver.#server, "listening");
        return receiver;
    }
    get url() {
        return `http://127.0.0.1:${this.#server.address().port}/events`;
    }
    /** Events of requests with a valid signature, without duplicates, in order of arrival. */
    get events() {
        return [...this.#events.values()];
    }
    /** Number of calls without a valid signature. */
    get refused() {
        return this.#refused;
    }
    /** @param secret as the registration of the webhook returned it. */
    trust(secret) {
        this.#secret = secret;
    }
    /** The event with the outcome of the request, or null when none arrives in time. */
    async outcome(requestId, milliseconds, signal) {
        const deadline = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
        for (;;) {
            signal.throwIfAborted();
            const event = this.events.find(({ request_id: id, type }) => id === requestId && type !== "sent");
            if (event !== undefined || deadline.aborted)
                return event ?? null;
            await this.#nextEvent(deadline);
        }
    }
    #nextEvent(deadline) {
        return new Promise((resolve) => {
            const done = () => {
                deadline.removeEventListener("abort", done);
                this.#waiting.delete(done);
                resolve();
            };
            deadline.addEventListener("abort", done);
            this.#waiting.add(done);
        });
    }
    async close() {
        this.#server.close();
        this.#server.closeAllConnections();
        await once(this.#server, "close");
    }
    async #receive(request, response) {
        const event = await this.#verified(await buffer(request), request.headers);
        if (event === null) {
            this.#refused++;
            response.writeHead(401).end();
            return;
        }
        // A delivery may arrive twice. The id tells duplicates apart.
        if (event.type !== "test")
            this.#events.set(event.id, event);
        response.writeHead(204).end();
        for (const wake of [...this.#waiting])
            wake();
    }
    async #verified(body, headers) {
        if (this.#secret === null)
            return null;
        try {
            return await verifyWebhook(body, headers, this.#secret);
        }
        catch (error) {
            if (error instanceof WebhookRefused)
                return null;
            throw error;
        }
    }
}
