import { Pool } from "undici";
/** Keeps many connections, as an app under load does. */
export class Load {
    #pools;
    #headers;
    connections;
    #sent = 0;
    /** @param urls the servers, which share the calls. */
    constructor(urls, connections, token) {
        this.connections = connections;
        this.#pools = urls.map((url) => new Pool(url, { connections: Math.ceil(connections / urls.length) }));
        this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    }
    /** @throws Error on any status except 200, because a benchmark of refused calls is meaningless. */
    async send({ method, path, body, headers = {} }) {
        const pool = this.#pools[this.#sent++ % this.#pools.length];
        if (pool === undefined)
            throw new Error("there is no server");
        const response = await pool.request({
            method,
            path,
            headers: { ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
            body: body === undefined ? null : JSON.stringify(body),
        });
        const text = await response.body.text();
        if (response.statusCode !== 200)
            throw new Error(`${method} ${path}: ${response.statusCode.toString()} ${text}`);
        return JSON.parse(text);
    }
    /** Sends `count` calls, one after the other on each connection. @returns the seconds that it took. */
    async run(count, call) {
        const started = performance.now();
        let next = 0;
        const one = async () => {
            while (next < count)
                await this.send(call(next++));
        };
        await Promise.all(Array.from({ length: Math.min(count, this.connections) }, one));
        return (performance.now() - started) / 1000;
    }
    async close() {
        await Promise.all(this.#pools.map((pool) => pool.close()));
    }
}
