import { setTimeout as wait } from "node:timers/promises";

type Json = Record<string, unknown>;

export interface Answer<T = Json> {
  status: number;
  body: T;
}

/** What tests read of a request. */
export interface RequestBody {
  request_id: string;
  status: "pending" | "processing" | "completed" | "failed";
  transaction_hash: string | null;
  block_number: number | null;
  nft_collection: string | null;
  nft_token_id: number | string | null;
  error_code: string | null;
  errors: { message: string }[] | null;
}

/** Speaks HTTP to a service, as an app would. */
export class ApiClient {
  readonly #base: string;
  readonly #token: string;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#token = token;
  }

  async send<T = Json>(method: string, path: string, body?: Json, headers: Record<string, string> = {}): Promise<Answer<T>> {
    const response = await fetch(this.#base + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as T };
  }

  /** @throws unless the answer is 200. */
  async ok<T = Json>(method: string, path: string, body?: Json): Promise<T> {
    const answer = await this.send<T>(method, path, body);
    if (answer.status !== 200) {
      throw new Error(`${method} ${path} answered ${answer.status.toString()}: ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  }

  /** A new wallet, of nobody in particular. */
  async wallet(): Promise<string> {
    return (await this.ok<{ address: string }>("POST", "/v1/accounts", {})).address;
  }

  /** Accepts a request and gives its id. */
  async accept(path: string, body: Json): Promise<string> {
    return (await this.ok<{ request_id: string }>("POST", path, body)).request_id;
  }

  /** Asks until the request is final. @throws after 30 s. */
  async settled(requestId: string): Promise<RequestBody> {
    const deadline = Date.now() + 30_000;
    for (;;) {
      const request = await this.ok<RequestBody>("GET", `/v1/requests/${requestId}`);
      if (request.status === "completed" || request.status === "failed") return request;
      if (Date.now() > deadline) throw new Error(`request ${requestId} is still ${request.status}`);
      await wait(50);
    }
  }

  /** A request from its acceptance to its end. */
  async done(path: string, body: Json): Promise<RequestBody> {
    return this.settled(await this.accept(path, body));
  }

  /** @throws unless it completed. */
  async completed(path: string, body: Json): Promise<RequestBody> {
    const request = await this.done(path, body);
    if (request.status !== "completed") throw new Error(`${path} failed: ${JSON.stringify(request)}`);
    return request;
  }

  async collection(fields: Json): Promise<string> {
    const request = await this.completed("/v1/collections", { name: "Test", symbol: "TST", ...fields });
    if (request.nft_collection === null) throw new Error("a completed collection has an address");
    return request.nft_collection;
  }
}
