import { answerOf, type Client, createClient, type Shape } from "../../client/client.ts";
import { RequestFailed } from "../../client/errors.ts";
import type { paths } from "../../client/document.ts";
import { checkedFetch } from "./conformance.ts";
import { eventually } from "./eventually.ts";

type Json = Record<string, unknown>;

/** Milliseconds that a call, or a request, may take: a busy machine is slow, and not wrong. */
const PATIENCE = 240_000;

export interface Answer<T = Json> {
  status: number;
  body: T;
}

export type RequestBody = Shape<"Request">;

/** Where calls end on the chain. */
type AcceptingPath = "/v1/collections" | "/v1/nfts" | "/v1/transfers";
/** Path and query parameters of the document. An undefined value is not sent. */
type BodyAt<P extends string> = P extends AcceptingPath
  ? OrUndefined<paths[P]["post"]["requestBody"]["content"]["application/json"]>
  : Json;
type OrUndefined<T> = { [K in keyof T]: T[K] | undefined };

/** Where a service listens, and the token of the app that calls it. */
export interface Connection {
  baseUrl: string;
  token: string;
}

/** Calls a service over HTTP like an app. Every answer is checked against the document that the service publishes. */
export class ApiClient {
  readonly #connection: () => Connection;
  #connected: (Connection & { client: Client; fetch: (request: Request) => Promise<Response> }) | null = null;

  /** @param connection is read before each call, for a service that starts again at another port. */
  constructor(connection: () => Connection) {
    this.#connection = connection;
  }

  static at(baseUrl: string, token: string): ApiClient {
    return new ApiClient(() => ({ baseUrl, token }));
  }

  /** The client that is published. */
  get client(): Client {
    return this.#connect().client;
  }

  /** Any call, also an invalid one. */
  async send<T = Json>(
    method: string,
    path: string,
    body?: Json,
    headers: Record<string, string> = {},
  ): Promise<Answer<T>> {
    const { baseUrl, token, fetch } = this.#connect();
    const request = new Request(baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const response = await fetch(request);
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

  /** Creates a wallet. @returns its address. */
  async wallet(user: string | null = null): Promise<string> {
    return (await answerOf(this.client.POST("/v1/accounts", { body: { user_identifier: user } }))).address;
  }

  /** Makes a call that accepts a request. @returns the request's id. */
  async accept<P extends string>(path: P, body: BodyAt<P>): Promise<string> {
    return (await this.ok<Shape<"Accepted">>("POST", path, body)).request_id;
  }

  /** Accepts several requests in one commit. @returns their ids. @throws unless all are accepted. */
  async acceptBatch(path: `/v1/${"nfts" | "transfers" | "burns"}/batch`, items: readonly Json[]): Promise<string[]> {
    const { results } = await this.ok<Shape<"BatchResults">>("POST", path, { items });
    return results.map((result) => {
      if (!("request_id" in result)) throw new Error(`an item was refused: ${JSON.stringify(result)}`);
      return result.request_id;
    });
  }

  /** Waits until the request is in a signed transaction. */
  async processing(requestId: string): Promise<void> {
    await eventually(async () => {
      const { status } = await this.ok<RequestBody>("GET", `/v1/requests/${requestId}`);
      return status === "processing" ? true : undefined;
    });
  }

  /** Polls until the request is final. @throws after four minutes. */
  async settled(requestId: string): Promise<RequestBody> {
    try {
      return await this.client.waitFor(requestId, { timeout: PATIENCE, interval: 50 });
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
    return this.client.waitFor(await this.accept(path, body), { timeout: PATIENCE, interval: 50 });
  }

  /** Mints a token of an ERC721 collection, or copies. @returns the completed request. */
  mint(collection: string, to: string, fields: Json = {}): Promise<RequestBody> {
    return this.completed("/v1/nfts", { collection_address: collection, to_address: to, ...fields });
  }

  /** Creates an ERC1155 id. */
  create(
    collection: string,
    owner: string,
    id: number | string,
    supply: number,
    fields: Json = {},
  ): Promise<RequestBody> {
    const created = { collection_address: collection, initial_owner: owner, token_id: id, initial_supply: supply };
    return this.completed("/v1/nfts", { ...created, ...fields });
  }

  /** Moves a token between wallets. @param id the token, or `amount` copies of it. */
  move(contract: string, id: number | string, from: string, to: string, amount?: number): Promise<RequestBody> {
    const moved = { contract_address: contract, token_id: id, from_address: from, to_address: to };
    return this.completed("/v1/transfers", { ...moved, ...(amount === undefined ? {} : { amount }) });
  }

  /** Any call that is refused. @returns its status and error code. */
  async refusal(method: string, path: string, body?: Json): Promise<string> {
    const answer = await this.send(method, path, body);
    return `${answer.status.toString()} ${String(answer.body["error_code"])}`;
  }

  async collection(
    fields: Partial<Shape<"CreateCollection">> & Pick<Shape<"CreateCollection">, "type">,
  ): Promise<string> {
    const request = await this.completed("/v1/collections", { name: "Test", symbol: "TST", ...fields });
    if (request.nft_collection === null) throw new Error("a completed collection has an address");
    return request.nft_collection;
  }

  #connect() {
    const { baseUrl, token } = this.#connection();
    if (this.#connected?.baseUrl !== baseUrl || this.#connected.token !== token) {
      const fetch = checkedFetch(baseUrl);
      // Without retries, a test sees each answer of the service.
      const client = createClient({ baseUrl, token, fetch, maxRetries: 0, timeout: PATIENCE });
      this.#connected = { baseUrl, token, fetch, client };
    }
    return this.#connected;
  }
}
