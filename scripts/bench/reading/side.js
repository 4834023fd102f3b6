import { join } from "node:path";
import { Client } from "undici";
import { MeasuredService } from "../harness/measured-service.ts";
import { check, readingsOf } from "./calls.ts";
/** The service on a database of one size. */
export class Side {
    shape;
    process;
    readings;
    #client;
    #headers;
    #choose = chooser();
    /** Milliseconds of each answer, by reading. */
    times;
    constructor(shape, process, url, token) {
        this.shape = shape;
        this.process = process;
        this.readings = readingsOf(shape);
        this.times = this.readings.map(() => []);
        this.#client = new Client(url);
        this.#headers = { authorization: `Bearer ${token}` };
    }
    static async start(world, url, shape) {
        const log = join(world.folder, `reading-${shape.tokens.toString()}.log`);
        const process = await MeasuredService.open({ ...world.env, DATABASE_URL: url }, log, "api");
        if (process.url === null)
            throw new Error("the service does not answer HTTP calls");
        return new Side(shape, process, process.url, world.token);
    }
    /** Reads once, and measures the time until the whole answer is there. */
    async read(index) {
        const reading = this.readings[index];
        if (reading === undefined)
            throw new Error("there is no such reading");
        const call = reading.next(this.#choose);
        const started = performance.now();
        const response = await this.#client.request({ method: "GET", path: call.path, headers: this.#headers });
        const text = await response.body.text();
        const ms = performance.now() - started;
        if (response.statusCode !== 200)
            throw new Error(`${call.path}: ${response.statusCode.toString()} ${text}`);
        check(call, text);
        return ms;
    }
    async stop() {
        await this.#client.close();
        await this.process.stop();
    }
}
/** Numbers that look random and are the same in each run (a linear congruential generator). */
function chooser() {
    let state = 1n;
    return (least, most) => {
        state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n;
        return least + (Number(state >> 33n) % (most - least + 1));
    };
}
