import { Pool } from "undici";

export interface Call {
  method: "GET" | "POST";
  path: string;
  body?: unknown;
}

/** Keeps many connections, as an app under load does. */
export class Load {
  readonly #pool: Pool;
  readonly #token: string;
  readonly connections: number;

  constructor(url: string, connections: number, token: string) {
    this.connections = connections;
    this.#pool = new Pool(url, { connections });
    this.#token = token;
  }

  /** @throws Error on any status except 200, because a benchmark of refused calls is meaningless. */
  async send<T>({ method, path, body }: Call): Promise<T> {
    const response = await this.#pool.request({
      method,
      path,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200) throw new Error(`${method} ${path}: ${response.statusCode.toString()} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Sends `count` calls, one after the other on each connection. @returns calls a second. */
  async run(count: number, call: (index: number) => Call): Promise<number> {
    const started = performance.now();
    let next = 0;
    const one = async () => {
      while (next < count) await this.send(call(next++));
    };
    await Promise.all(Array.from({ length: Math.min(count, this.connections) }, one));
    return (count * 1000) / (performance.now() - started);
  }

  async close(): Promise<void> {
    if (!this.#pool.closed) await this.#pool.close();
  }
}
