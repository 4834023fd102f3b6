import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { getAddress, hexlify } from "ethers";
/** Calls that are made at the same time. */
const WIDTH = 4;
/** Pause between two calls, in milliseconds. */
const PACE = 50;
/** An app that mints until it is stopped. */
export class Load {
    /** In the order of their answers. */
    accepted = [];
    #world;
    #collections;
    #stopped = false;
    #running = Promise.resolve();
    #made = 0;
    constructor(world, collections) {
        this.#world = world;
        this.#collections = collections;
    }
    start() {
        this.#running = Promise.all(Array.from({ length: WIDTH }, () => this.#work()));
    }
    async stop() {
        this.#stopped = true;
        await this.#running;
    }
    async #work() {
        while (!this.#stopped) {
            await this.mint();
            await wait(PACE);
        }
    }
    /** Every third has a picture that the service copies. */
    async mint() {
        const number = this.#made++;
        const to = getAddress(hexlify(randomBytes(20)));
        const svg = `<svg xmlns="http://www.w3.org/2000/svg" id="p${number.toString()}"/>`;
        const picture = { image: `data:image/svg+xml,${svg}`, copy_media: true };
        const body = {
            collection_address: this.#collections[number % this.#collections.length],
            to_address: to,
            name: `Drill ${number.toString()}`,
            ...(number % 3 === 0 ? picture : {}),
        };
        const key = randomUUID();
        try {
            const { status, body: answer } = await this.#world.call("POST", "/v1/nfts", body, key);
            // A full collection refuses it.
            if (status === 200)
                this.accepted.push({ id: String(answer["request_id"]), key, body, to });
        }
        catch (error) {
            // The process was killed during the call. Whether the request was stored is unknown, as for any caller.
            if (!this.#stopped)
                throw error;
        }
    }
}
