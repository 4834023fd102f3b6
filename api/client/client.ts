import createFetchClient, { type Client as FetchClient } from "openapi-fetch";

import { pause } from "../shared/pause.ts";
import type { components, paths } from "./document.ts";
import { ApiRefusal, readErrorBody, RequestFailed, RequestTimeout } from "./errors.ts";

/** A schema of the OpenAPI document by its name: `Shape<"Wallet">`. */
export type Shape<Name extends keyof components["schemas"]> = components["schemas"][Name];

export interface ClientOptions {
  /** URL of the service, without `/v1`. */
  baseUrl: string;
  /** A token of the app. */
  token: string;
  /** Replaces the platform's `fetch`. */
  fetch?: (request: Request) => Promise<Response>;
  /** Aborts every call in progress. */
  signal?: AbortSignal;
}

export interface WaitOptions {
  /** Longest wait, in milliseconds. */
  timeout?: number;
  /** Milliseconds between two polls. */
  interval?: number;
  signal?: AbortSignal;
}

/**
 * Calls by path and method, typed from the OpenAPI document: `client.POST("/v1/accounts", { body: { user_identifier: "alice" } })`
 * resolves to `{ data, error, response }`. `answerOf` returns the data or throws.
 */
export interface Client extends FetchClient<paths, "application/json"> {
  /** Polls until the request is final. @throws RequestFailed, RequestTimeout, ApiRefusal */
  waitFor(requestId: string, options?: WaitOptions): Promise<Shape<"Request">>;
}

const TIMEOUT = 120_000;
const INTERVAL = 250;
/** Rate limited or unavailable: `Retry-After` says how long to wait. */
const BUSY = [429, 503];

export function createClient({ baseUrl, token, fetch, signal }: ClientOptions): Client {
  const client = createFetchClient<paths, "application/json">({
    baseUrl: baseUrl.replace(/\/+$/, ""),
    headers: { Authorization: `Bearer ${token}` },
    ...(fetch === undefined ? {} : { fetch }),
    ...(signal === undefined ? {} : { signal }),
  });
  return {
    ...client,
    waitFor: async (requestId, { timeout = TIMEOUT, interval = INTERVAL, signal: stop } = {}) => {
      const abort = AbortSignal.any([signal, stop].filter((one) => one !== undefined));
      const deadline = performance.now() + timeout;
      const path = { request_id: requestId };
      for (;;) {
        const call = await client.GET("/v1/requests/{request_id}", { params: { path }, signal: abort });
        const busy = BUSY.includes(call.response.status);
        if (!busy) {
          const request = await answerOf(call);
          if (request.status === "completed") return request;
          if (request.status === "failed") throw new RequestFailed(request);
        }
        const wait = busy ? Number(call.response.headers.get("retry-after")) * 1_000 : interval;
        if (performance.now() + wait > deadline) throw new RequestTimeout(requestId);
        await pause(wait, abort);
        abort.throwIfAborted();
      }
    },
  };
}

interface Outcome<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a call. @throws ApiRefusal when the service refused it. */
export async function answerOf<T>(call: Outcome<T> | Promise<Outcome<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (data === undefined || data === null) throw new ApiRefusal(response.status, readErrorBody(error));
  return data;
}
