import { Pool } from "undici";

export interface Call {
  method: "GET" | "POST" | "PUT";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** Keeps many connections, as an app under load does. */
export class Load {
  readonly #pools: readonly Pool[];
  readonly #headers: Record<string, string>;
  readonly connections: number;
  #sent = 0;

  /** @param urls the servers, which share the calls. */
  constructor(urls: readonly string[], connections: number, token?: string) {
    this.connections = connections;
    this.#pools = urls.map((url) => new Pool(url, { connections: Math.ceil(connections / urls.length) }));
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** @throws Error on any status except 200, because a benchmark of refused calls is meaningless. */
  async send<T>({ method, path, body, headers = {} }: Call): Promise<T> {
    const pool = this.#pools[this.#sent++ % this.#pools.length];
    if (pool === undefined) throw new Error("there is no server");
    const response = await pool.request({
      method,
      path,
      headers: { ...this.#headers, ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode.toString()} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Sends `count` calls, one after the other on each connection. @returns the seconds that it took. */
  async run(count: number, call: (index: number) => Call): Promise<number> {
    const started = performance.now();
    let next = 0;
    const one = async () => {
      while (next < count) await this.send(call(next++));
    };
    await Promise.all(Array.from({ length: Math.min(count, this.connections) }, one));
    return (performance.now() - started) / 1000;
  }

  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }
}
