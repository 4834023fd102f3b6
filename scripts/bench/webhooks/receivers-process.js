import { join } from "node:path";
import { Program } from "../../scene/program.ts";
/** Milliseconds on the monotonic clock that all processes of a machine share. */
export function monotonicNow() {
    return Number(process.hrtime.bigint()) / 1e6;
}
/** Receivers of webhooks in a separate process, so that their work is not that of a sender. */
export class Receivers {
    #process;
    /** Where the receivers that answer listen. */
    urls;
    /** Where the receiver listens that accepts connections and never answers. */
    deadUrl;
    constructor(process, urls, deadUrl) {
        this.#process = process;
        this.urls = urls;
        this.deadUrl = deadUrl;
    }
    static async start(count) {
        const process = new Program([join(import.meta.dirname, "receivers.ts"), count.toString()], { channel: true });
        const { urls, deadUrl } = await process.message();
        return new Receivers(process, urls, deadUrl);
    }
    /** Forgets all calls. @returns the times at which the next ones arrive; a promise in an object, to be awaited later. */
    async expect(expected) {
        await this.#ask({ expect: expected });
        return { arrived: this.#process.message() };
    }
    verify(secrets) {
        return this.#ask({ verify: secrets });
    }
    async hangUp() {
        await this.#ask({ hangUp: true });
    }
    async stop() {
        await this.#process.end("SIGTERM");
    }
    #ask(order) {
        return this.#process.ask(order);
    }
}
