import createFetchClient, { type Client as FetchClient } from "openapi-fetch";

import type { components, paths } from "./document.ts";
import { type EventsOptions, streamEvents, type StreamedEvent } from "./events.ts";
import { refusalOf } from "./errors.ts";
import { type MediaBody, upload, type UploadedMedia, type UploadOptions } from "./media.ts";
import { withRetries } from "./retries.ts";
import { finalRequest, type WaitOptions } from "./wait.ts";

/** A schema of the OpenAPI document by its name: `Shape<"Wallet">`. */
export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

export interface ClientOptions {
  /** URL of the service, without `/v1`. */
  baseUrl: string;
  /** A token of the app. Without it the calls have no `Authorization` header, for a page whose session is a cookie. */
  token?: string;
  /** Headers of every call, also of `events` and `uploadMedia`. */
  headers?: Record<string, string>;
  /**
   * How often a call is repeated at most after a broken connection, a 429 or a 503. Default: 2. Calls that create something
   * get an `Idempotency-Key`, so that they happen once. 0 repeats nothing and adds no key.
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
 * Calls by path and method, typed from the OpenAPI document: `client.POST("/v1/accounts", { body: { user_identifier: "alice" } })`
 * resolves to `{ data, error, response }`. `answerOf` returns the data or throws. @throws ConnectionFailed
 */
export interface Client extends FetchClient<paths, "application/json"> {
  /** Polls until the request is final. @throws RequestFailed, RequestTimeout, ApiRefusal, ConnectionFailed */
  waitFor(requestId: string, options?: WaitOptions): Promise<Shape<"Request">>;
  /**
   * The app's events as they are stored: `for await (const { cursor, event } of client.events())`. Reconnects by itself and
   * loses none. @throws ApiRefusal
   */
  events(options?: EventsOptions): AsyncGenerator<StreamedEvent, never>;
  /** Stores a file. Its `uri` is for `image` and `animation_url`. @throws ApiRefusal, ConnectionFailed */
  uploadMedia(body: MediaBody, options?: UploadOptions): Promise<UploadedMedia>;
}

const MAX_RETRIES = 2;
const TIMEOUT = 60_000;

export function createClient(options: ClientOptions): Client {
  const { baseUrl, maxRetries = MAX_RETRIES, timeout = TIMEOUT, signal } = options;
  const headers = headersOf(options);
  const send = options.fetch ?? ((request: Request, init: RequestInit) => globalThis.fetch(request, init));
  const base = baseUrl.replace(/\/+$/, "");
  const client = createFetchClient<paths, "application/json">({
    baseUrl: base,
    headers,
    fetch: withRetries(send, { maxRetries, timeout }),
    ...(signal === undefined ? {} : { signal }),
  });
  client.use({
    onRequest: ({ params }) => {
      checkPath(params.path ?? {});
    },
  });
  // `waitFor` counts its own tries, because it knows until when they make sense.
  const single = withRetries(send, { maxRetries: 0, timeout });
  return {
    ...client,
    waitFor: (requestId, wait = {}) => {
      const abort = AbortSignal.any([signal, wait.signal].filter((one) => one !== undefined));
      const path = { request_id: requestId };
      const get = () => client.GET("/v1/requests/{request_id}", { params: { path }, signal: abort, fetch: single });
      return finalRequest(requestId, get, { ...wait, signal: abort }, maxRetries);
    },
    events: (stream = {}) => {
      const abort = AbortSignal.any([signal, stream.signal].filter((one) => one !== undefined));
      return streamEvents(single, { url: `${base}/v1/events`, headers }, { ...stream, signal: abort });
    },
    uploadMedia: (body, file = {}) => {
      const abort = AbortSignal.any([signal, file.signal].filter((one) => one !== undefined));
      return upload(body, file, { url: `${base}/v1/media`, headers, send, maxRetries, signal: abort });
    },
  };
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

/** The data of a call. @throws ApiRefusal when the service refused it. */
export async function answerOf<T>(call: Outcome<T> | Promise<Outcome<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null) throw refusalOf(response, error);
  return data;
}
