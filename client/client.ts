import createFetchClient, { type Client as FetchClient } from "openapi-fetch";

import type { components, paths as documentedPaths } from "./document.ts";
import {
  type DefaultEventName,
  type EventName,
  type EventOf,
  type EventsOptions,
  streamEvents,
  type StreamedEvent,
} from "./events.ts";
import { type ExportOptions, rowsOf } from "./exports.ts";
import { ApiRefusal, refusalOf } from "./errors.ts";
import { bodyText } from "./rules/exact-json.ts";
import { type MediaBody, upload, type UploadedMedia, type UploadOptions } from "./media.ts";
import { withRetries } from "./retries.ts";
import { completedAs, type CompletedRequest, finalRequest, type RequestType, type WaitOptions } from "./wait.ts";

type Accounts = documentedPaths["/v1/accounts"];
/**
 * The calls of the document. The body of a new wallet may not be left out: the service would create a wallet
 * without a user.
 */
type ClientPaths = Omit<documentedPaths, "/v1/accounts"> & {
  "/v1/accounts": Omit<Accounts, "post"> & {
    post: Omit<Accounts["post"], "requestBody"> & { requestBody: NonNullable<Accounts["post"]["requestBody"]> };
  };
};

/**
 * A schema of the OpenAPI document by its name.
 * @example
 * ```ts
 * function label(wallet: Shape<"Wallet">): string {
 *   return wallet.user_identifier ?? wallet.address;
 * }
 * ```
 */
export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** How `mintAndWait` waits, and what it may do only once. */
export interface MintOptions extends WaitOptions {
  /** 1 to 255 visible ASCII characters. Names what may happen only once, such as an order. A later call with the same key and body gets the same token. */
  idempotencyKey?: string;
}

/** What the service warned of when it accepted a call. */
interface Warned {
  /** The call probably does not do what was meant. Absent when there is nothing to say. */
  warnings?: Shape<"Warnings">;
}

/** Options of `getOrCreateWallet`. */
export interface WalletOptions {
  /** Aborts the call. The wallet may have been created. */
  signal?: AbortSignal;
}

/** Where the service is, whose app calls it, and how calls are repeated. Times are in milliseconds. */
export interface ClientOptions {
  /** URL of the service, without `/v1`, such as `https://nft.example.com`. */
  baseUrl: string;
  /** A token of the app. Without it the calls have no `Authorization` header, for a page whose session is a cookie. */
  token?: string;
  /** Headers of every call, also of `events` and `uploadMedia`. */
  headers?: Record<string, string>;
  /**
   * How often a call is repeated at most after a broken connection, a 429, 502, 503 or 504. Default: 2. Calls that create
   * something get an `Idempotency-Key`, so that they happen once. 0 repeats nothing and adds no key.
   */
  maxRetries?: number;
  /** Longest time for one try of a call, in milliseconds. Default: 60,000. */
  timeout?: number;
  /** Replaces the platform's `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Aborts every call in progress. */
  signal?: AbortSignal;
}

/**
 * Calls by path and method, typed from the OpenAPI document. `GET`, `POST`, `PUT`, `PATCH` and `DELETE` resolve to
 * `{ data, error, response }`; `answerOf` returns the data or throws. `createClient` makes a client.
 * @throws {ConnectionFailed} when no try of a call was answered
 * @throws {TypeError} when a value cannot be sent in a path, or a new wallet has no body
 * @example
 * ```ts
 * const { data, error } = await client.GET("/v1/accounts", { params: { query: { limit: 10 } } });
 * if (data !== undefined) console.log(data.total);
 * else console.error(error.error_code, error.message);
 * ```
 */
export interface Client extends FetchClient<ClientPaths, "application/json"> {
  /**
   * Polls a request until it is final, by default every 250 ms for at most 120,000 ms.
   * @param requestId the `request_id` that the call answered, 64 hexadecimal digits
   * @param options with `type`, such as "collection", the result has the fields of that type
   * @returns the request, completed
   * @throws {RequestFailed} when the request has failed
   * @throws {RequestTimeout} when it is not final in time. It may still complete
   * @throws {ApiRefusal} when the service refuses to show it, for example with `not_found`
   * @throws {ConnectionFailed} when the service cannot be reached
   * @throws {TypeError} when the request has another type
   * @example
   * ```ts
   * const body = { type: "ERC721", name: "Cats", symbol: "CAT" } as const;
   * const { request_id } = await answerOf(client.POST("/v1/collections", { body }));
   * const { nft_collection } = await client.waitFor(request_id, { type: "collection" });
   * ```
   */
  waitFor<Type extends RequestType>(
    requestId: string,
    options: WaitOptions & { type: Type },
  ): Promise<CompletedRequest<Type>>;
  /** The same without a type: `request.type` of the result tells its fields. */
  waitFor(requestId: string, options?: WaitOptions): Promise<CompletedRequest>;
  /**
   * Mints, and waits until the token exists. After a timeout or an abort the mint may still complete: call again with the same
   * `idempotencyKey` and body, and the same token is returned.
   * @param body one mint. The type of the collection decides which fields it needs
   * @returns the completed request, with `nft_collection` and `nft_token_id`, and the `warnings` of the call when it had any
   * @throws {ApiRefusal} when the mint is refused
   * @throws {RequestFailed} when it fails later, with the reason
   * @throws {RequestTimeout} when it is not final in time, by default 120,000 ms
   * @throws {ConnectionFailed} when the service cannot be reached
   * @example
   * ```ts
   * const body = { collection_address: collection, to_user: "alice", name: "Cat {token_id}" };
   * const { nft_token_id } = await client.mintAndWait(body, { idempotencyKey: orderId });
   * ```
   */
  mintAndWait(body: Shape<"Mint">, options?: MintOptions): Promise<CompletedRequest<"mint"> & Warned>;
  /**
   * The wallet of the app's user; it is created when the user has none. Calls at the same time get the same wallet. The token
   * needs the scopes `read` and `accounts`.
   * @param user your app's own name or id of the user, 1 to 256 characters
   * @returns the wallet; its `address` never changes
   * @throws {ApiRefusal} when the service refuses, for example with `quota_exceeded`
   * @throws {ConnectionFailed} when the service cannot be reached
   * @throws {TypeError} when the user is "", "." or ".."
   * @example
   * ```ts
   * const { address } = await client.getOrCreateWallet("alice");
   * ```
   */
  getOrCreateWallet(user: string, options?: WalletOptions): Promise<Shape<"Wallet">>;
  /**
   * The app's events as they are stored, for as long as the loop runs. Reconnects by itself and loses none.
   * @param options `types` names the events that come, also those of tokens; `after` continues after a cursor; `signal` ends the stream
   * @throws {ApiRefusal} when the service refuses the stream for good
   * @throws the reason of the signal, when it aborts
   * @example
   * ```ts
   * for await (const { cursor, event } of client.events({ after: "start" })) {
   *   console.log(event.type, event.request_id, cursor);
   * }
   * ```
   */
  events<Name extends EventName = DefaultEventName>(
    options?: EventsOptions<Name>,
  ): AsyncGenerator<StreamedEvent<EventOf<Name>>, never>;
  /**
   * Stores a file. The same bytes are stored once. The token needs the scope `media`.
   * @param body a Blob, bytes or a stream. A stream is sent once, without retries
   * @returns `uri`, an `ipfs://` address for `image` and `animation_url`, with `cid`, `type` and `bytes`
   * @throws {ApiRefusal} when the service refuses the file, for example with `payload_too_large`
   * @throws {ConnectionFailed} when no try was answered
   * @example
   * ```ts
   * const picture = new Blob(['<svg xmlns="http://www.w3.org/2000/svg"/>'], { type: "image/svg+xml" });
   * const { uri } = await client.uploadMedia(picture);
   * await client.mintAndWait({ collection_address: collection, to_user: "alice", image: uri });
   * ```
   */
  uploadMedia(body: MediaBody, options?: UploadOptions): Promise<UploadedMedia>;
  /**
   * All holders of a collection of the app, as of one block, as they arrive.
   * @param collection its address
   * @throws {ApiRefusal} when the service refuses, for example with `not_found`
   * @throws {ConnectionFailed} when no try was answered, or the connection broke: then call again, from the first row
   * @example
   * ```ts
   * for await (const { address, token_id, quantity } of client.exportHolders(collection)) {
   *   console.log(address, token_id, quantity);
   * }
   * ```
   */
  exportHolders(collection: string, options?: ExportOptions): AsyncGenerator<Shape<"ExportedHolding">, undefined>;
  /**
   * All wallets of the app, oldest first, as they arrive.
   * @throws {ApiRefusal} when the service refuses
   * @throws {ConnectionFailed} when no try was answered, or the connection broke: then call again, from the first row
   * @example
   * ```ts
   * for await (const { user_identifier, address } of client.exportWallets()) console.log(user_identifier, address);
   * ```
   */
  exportWallets(options?: ExportOptions): AsyncGenerator<Shape<"ExportedWallet">, undefined>;
}

const MAX_RETRIES = 2;
const TIMEOUT = 60_000;

/** One try of a call for each client, for helpers that count their tries themselves. */
const SINGLE_TRIES = new WeakMap<Client, (request: Request) => Promise<Response>>();

/** @returns what sends a call of the client without its retries. */
export function singleTries(client: Client): (request: Request) => Promise<Response> {
  const single = SINGLE_TRIES.get(client);
  if (single === undefined) throw new TypeError("Pass a client as createClient returns it, not a copy.");
  return single;
}

/**
 * Makes a client of one service, for one app. It holds no connection, so there is nothing to close.
 * @param options where the service is, and the token of the app
 * @returns a client that many callers may use at the same time
 * @example
 * ```ts
 * const client = createClient({ baseUrl: "http://localhost:3000", token: "moneta_..." });
 * ```
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, maxRetries = MAX_RETRIES, timeout = TIMEOUT, signal } = options;
  const headers = headersOf(options);
  const send = options.fetch ?? ((request: Request, init: RequestInit) => globalThis.fetch(request, init));
  const base = baseUrl.replace(/\/+$/, "");
  const client = createFetchClient<ClientPaths, "application/json">({
    baseUrl: base,
    headers,
    fetch: withRetries(send, { maxRetries, timeout }),
    bodySerializer: (body: unknown) => {
      checkUser(body);
      return bodyText(body);
    },
    ...(signal === undefined ? {} : { signal }),
  });
  client.use({
    onRequest: ({ params, request, schemaPath }) => {
      checkPath(params.path ?? {});
      if (schemaPath === "/v1/accounts" && request.method === "POST" && request.body === null)
        throw new TypeError(NO_USER);
    },
  });
  // `waitFor` counts its own tries, because it knows until when they make sense.
  const single = withRetries(send, { maxRetries: 0, timeout });
  const either = (own?: AbortSignal) => AbortSignal.any([signal, own].filter((one) => one !== undefined));
  async function waitFor<Type extends RequestType>(requestId: string, wait: WaitOptions & { type?: Type } = {}) {
    const abort = either(wait.signal);
    const path = { request_id: requestId };
    const get = () => client.GET("/v1/requests/{request_id}", { params: { path }, signal: abort, fetch: single });
    const request = await finalRequest(requestId, get, { ...wait, signal: abort }, maxRetries);
    return completedAs<Type>(request, wait.type ?? (request.type as Type));
  }
  const full: Client = {
    ...client,
    waitFor,
    mintAndWait: (body, options = {}) => mintAndWait(full, body, { ...options, signal: either(options.signal) }),
    getOrCreateWallet: (user, options = {}) => getOrCreateWallet(full, user, { signal: either(options.signal) }),
    events: (stream = {}) => {
      return streamEvents(single, { url: `${base}/v1/events`, headers }, { ...stream, signal: either(stream.signal) });
    },
    uploadMedia: (body, file = {}) => {
      return upload(body, file, { url: `${base}/v1/media`, headers, send, maxRetries, signal: either(file.signal) });
    },
    exportHolders: (collection, { signal } = {}) => {
      const [params, call] = [{ query: { collection } }, { parseAs: "stream", signal: either(signal) } as const];
      return rowsOf(() => client.GET("/v1/exports/holders", { params, ...call }));
    },
    exportWallets: ({ signal } = {}) => {
      return rowsOf(() => client.GET("/v1/exports/wallets", { parseAs: "stream", signal: either(signal) }));
    },
  };
  SINGLE_TRIES.set(full, single);
  return full;
}

/** Mints, and waits until the request is final. */
async function mintAndWait(
  client: Client,
  body: Shape<"Mint">,
  { idempotencyKey, ...wait }: MintOptions & { signal: AbortSignal },
): Promise<CompletedRequest<"mint"> & Warned> {
  const header = idempotencyKey === undefined ? {} : { "Idempotency-Key": idempotencyKey };
  const call = { body, params: { header }, signal: wait.signal };
  const { request_id: id, ...warned } = await answerOf(client.POST("/v1/nfts", call));
  return { ...(await client.waitFor(id, { ...wait, type: "mint" })), ...warned };
}

/** Finds the wallet of a user, or creates it. */
async function getOrCreateWallet(
  client: Client,
  user: string,
  { signal }: { signal: AbortSignal },
): Promise<Shape<"Wallet">> {
  const found = await walletOf(client, user, signal);
  if (found !== null) return found;
  try {
    return await answerOf(client.POST("/v1/accounts", { body: { user_identifier: user }, signal }));
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.errorCode !== "user_identifier_taken") throw error;
    // Another call has created it since.
    const created = await walletOf(client, user, signal);
    if (created === null) throw error;
    return created;
  }
}

/** @returns null when the user has no wallet. */
async function walletOf(client: Client, user: string, signal: AbortSignal): Promise<Shape<"Wallet"> | null> {
  const path = { user_identifier: user };
  try {
    return await answerOf(client.GET("/v1/accounts/user/{user_identifier}", { params: { path }, signal }));
  } catch (error) {
    if (error instanceof ApiRefusal && error.errorCode === "not_found") return null;
    throw error;
  }
}

const NO_USER = "A new wallet needs a body: { user_identifier }, or {} for a wallet without a user.";

/** JSON leaves undefined out, so that a variable without a value would create a wallet without a user. */
function checkUser(body: unknown): void {
  if (typeof body !== "object" || body === null) return;
  if ("user_identifier" in body && body.user_identifier === undefined) {
    throw new TypeError(`user_identifier is undefined. ${NO_USER}`);
  }
}

/**
 * URLs read these values as another path, also when they are percent-encoded: without this check, the call for the wallet of
 * a user who is called `..` would list all wallets.
 */
function checkPath(path: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(path)) {
    if (value === "" || value === "." || value === "..") {
      throw new TypeError(`"${value}" cannot be sent as \`${name}\`: in a URL it would name another path.`);
    }
  }
}

function headersOf({ token, headers = {} }: ClientOptions): Record<string, string> {
  return token === undefined ? headers : { ...headers, Authorization: `Bearer ${token}` };
}

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/**
 * The data of a call.
 * @param call what `GET`, `POST`, `PUT`, `PATCH` or `DELETE` of a client returned, awaited or not
 * @returns the body of the answer
 * @throws {ApiRefusal} when the service refused the call
 * @throws {ConnectionFailed} when no try of it was answered
 * @example
 * ```ts
 * const { collections } = await answerOf(client.GET("/v1/collections"));
 * ```
 */
export async function answerOf<T>(call: Outcome<T> | Promise<Outcome<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null) throw refusalOf(response, error);
  return data;
}
