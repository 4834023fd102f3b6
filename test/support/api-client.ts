import { answerOf, type Client, createClient, type Shape } from "../../api/client/client.ts";
import { RequestFailed } from "../../api/client/errors.ts";
import type { paths } from "../../api/client/document.ts";
import { checkedFetch } from "./conformance.ts";

type Json = Record<string, unknown>;

export interface Answer<T = Json> {
  status: number;
  body: T;
}

export type RequestBody = Shape<"Request">;

/** Where calls end on the chain. */
type AcceptingPath = "/v1/collections" | "/v1/nfts" | "/v1/transfers";
/** What the document says that the path takes; undefined is left out on the wire. */
type BodyAt<P extends string> = P extends AcceptingPath
  ? OrUndefined<paths[P]["post"]["requestBody"]["content"]["application/json"]>
  : Json;
type OrUndefined<T> = { [K in keyof T]: T[K] | undefined };

/** Speaks HTTP to a service, as an app would; every answer is checked against the document that the service publishes. */
export class ApiClient {
  readonly client: Client;
  readonly #base: string;
  readonly #token: string;
  readonly #fetch: (request: Request) => Promise<Response>;

  constructor(base: string, token: string) {
    this.#base = base;
    this.#token = token;
    this.#fetch = checkedFetch(base);
    this.client = createClient({ baseUrl: base, token, fetch: this.#fetch });
  }

  /** Any call, wrong ones included. */
  async send<T = Json>(
    method: string,
    path: string,
    body?: Json,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const request = new Request(this.#base + path, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await this.#fetch(request);
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
    return (await answerOf(this.client.POST("/v1/accounts", { body: {} }))).address;
  }

  /** Accepts a request and gives its id. */
  async accept<P extends string>(path: P, body: BodyAt<P>): Promise<string> {
    return (await this.ok<Shape<"Accepted">>("POST", path, body)).request_id;
  }

  /** Asks until the request is final. @throws after 30 s. */
  async settled(requestId: string): Promise<RequestBody> {
    try {
      return await this.client.waitFor(requestId, { timeout: 30_000, interval: 50 });
    } catch (error) {
      if (error instanceof RequestFailed) return error.request;
      throw error;
    }
  }

  /** A request from its acceptance to its end. */
  async done<P extends string>(path: P, body: BodyAt<P>): Promise<RequestBody> {
    return this.settled(await this.accept(path, body));
  }

  /** @throws unless it completed. */
  async completed<P extends string>(path: P, body: BodyAt<P>): Promise<RequestBody> {
    return this.client.waitFor(await this.accept(path, body), { timeout: 30_000, interval: 50 });
  }

  async collection(
    fields: Partial<Shape<"CreateCollection">> & Pick<Shape<"CreateCollection">, "type">,
  ): Promise<string> {
    const request = await this.completed("/v1/collections", { name: "Test", symbol: "TST", ...fields });
    if (request.nft_collection === null) throw new Error("a completed collection has an address");
    return request.nft_collection;
  }
}
