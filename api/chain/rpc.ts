import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

import { Agent, type Dispatcher, request } from "undici";
import { z } from "zod";

import { AdaptiveSize } from "../shared/adaptive-size.ts";
import { type Metrics, type RpcOutcome, secondsSince } from "../shared/metrics.ts";
import { parseJson } from "../shared/text.ts";
import { ChainGuard, type ExpectedChain } from "./chain-guard.ts";
import { AnswerTooLarge, ChainUnavailable, NodeRedirects, RateLimited, RpcError } from "./errors.ts";
import { limitOf, waitOfHeader } from "./limits.ts";
import { NodeBudget, type Priority } from "./node-budget.ts";
import { hash, hexQuantity } from "./values.ts";

export interface RpcCall {
  method: string;
  params: unknown[];
}

export type RpcResult = { ok: true; value: unknown } | { ok: false; error: RpcError };

/** Timeout of one HTTP request, in milliseconds. */
const TIMEOUT = 20_000;
/** Calls in one HTTP request, until a provider accepts only fewer. */
const MAX_CALLS = 100;
/** How long the check of its chain waits for one of several nodes, in milliseconds. */
const CHECK_TIMEOUT = 2_000;
/** Largest answer to one HTTP request, in bytes. Logs of a busy range are the largest answers. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** Who calls, and narrower bounds for calls whose answer a stranger decides. */
export interface RpcBounds {
  /** Who comes first while the provider limits the rate of calls. Default `later`. */
  priority?: Priority;
  /** Does not wait for the calls of others: a few small calls that show how the node is. */
  urgent?: boolean;
  /** Longest wait for the calls of others, in milliseconds, if shorter than that of the connection. */
  wait?: number;
  /** At most this many calls are in one HTTP request. */
  bundleSize?: number;
  /** Largest answer to one HTTP request, in bytes. */
  answerBytes?: number | undefined;
  /** Ends the calls early. */
  abort?: AbortSignal | undefined;
  /** Of one HTTP request, in milliseconds, if shorter than that of the connection. */
  timeout?: number;
}

export interface RpcOptions {
  /** How long a call waits while the provider limits the rate of calls, in milliseconds. Default 0. */
  maxWait?: number;
  /** How long it waits while the provider accepts no call at all. Default: as `maxWait`. */
  maxRest?: number;
  /** Of one HTTP request, in milliseconds. */
  timeout?: number;
  /** The calls that the node's provider allows. All connections to the node share it. Absent: there is no other. */
  budget?: NodeBudget;
  metrics?: Pick<Metrics, "rpc">;
}

const rpcError = z.object({ code: z.number(), message: z.string().default(""), data: z.unknown().optional() });
const answer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  // Some nodes write `"error": null` beside a result.
  error: rpcError.nullish(),
});
/** How nodes refuse a bundle as a whole. */
const refusal = z.object({ error: rpcError });

/** The provider accepts fewer calls in one HTTP request. */
class BundleTooLarge extends Error {
  override readonly name = "BundleTooLarge";
}

/** One HTTP request. */
interface SentCalls {
  /** How many calls it has. */
  size: number;
  /** Milliseconds, as its answer says; null: it does not. */
  retryAfter: number | null;
  startedAt: number;
}

interface HttpAnswer {
  status: number;
  /** Milliseconds; null without the header. */
  retryAfter: number | null;
  /** Undefined when the body is not JSON. */
  json: unknown;
}

/** Calls whose answers say which chain a node serves. */
const IDENTITY: RpcCall[] = [
  { method: "eth_chainId", params: [] },
  { method: "eth_getBlockByNumber", params: ["0x0", false] },
];
const identity = z.tuple([hexQuantity, z.object({ hash }).nullable()]);

/**
 * JSON-RPC over HTTP, of one node. Answers are matched by id. If one is missing or malformed, the node counts as unavailable.
 * Bundles become smaller when a provider refuses them. While it limits the rate of calls, they are sent as the node's budget allows.
 */
export class Rpc {
  readonly url: string;
  readonly budget: NodeBudget;
  guard: ChainGuard | null = null;
  readonly #options: RpcOptions;
  readonly #bundleSize = new AdaptiveSize(MAX_CALLS);
  #id = 0;

  constructor(url: string, options: RpcOptions = {}) {
    this.url = url;
    this.budget = options.budget ?? new NodeBudget();
    this.#options = options;
  }

  /**
   * From now on, an answer counts only while the node serves this chain.
   * @param name of the node in messages; null: it is the only one, whose chain was just read.
   */
  guardBy(expected: ExpectedChain, name: string | null): void {
    if (this.guard !== null) return;
    const timeout = name === null ? {} : { timeout: CHECK_TIMEOUT };
    const read = async () => chainOf(valuesOf(await this.#run(IDENTITY, { urgent: true, ...timeout }, null)));
    this.guard = new ChainGuard(this.url, expected, read, name);
  }

  stop(): void {
    this.guard?.stop();
  }

  /** The chain that the node serves. Null: it does not return block 0. @throws RpcError, ChainUnavailable */
  async chain(): Promise<ExpectedChain | null> {
    return chainOf(valuesOf(await this.bundle(IDENTITY)));
  }

  /** @throws RpcError, ChainUnavailable */
  async call(method: string, params: unknown[], bounds: RpcBounds = {}): Promise<unknown> {
    return valuesOf(await this.bundle([{ method, params }], bounds))[0];
  }

  /** Sends signed bytes. @throws RpcError, ChainUnavailable: neither proves that no node took them. */
  async broadcast(raw: string): Promise<void> {
    await this.call("eth_sendRawTransaction", [raw], { priority: "lane" });
  }

  /** Results in the order of the calls. An error of one call does not affect the others. @throws ChainUnavailable */
  bundle(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    return this.#run(calls, bounds, this.guard);
  }

  async #run(calls: RpcCall[], bounds: RpcBounds, guard: ChainGuard | null): Promise<RpcResult[]> {
    const results: RpcResult[] = [];
    const { priority = "past", urgent, abort } = bounds;
    const { maxWait = 0, maxRest = maxWait } = this.#options;
    const wait = Math.min(maxWait, bounds.wait ?? Infinity);
    let started = performance.now();
    while (results.length < calls.length) {
      const size = Math.min(this.#bundleSize.value, bounds.bundleSize ?? MAX_CALLS, calls.length - results.length);
      const part = calls.slice(results.length, results.length + this.budget.largest(size));
      const waited = performance.now() - started;
      const waits = { wait: Math.max(0, wait - waited), rest: Math.max(0, maxRest - waited) };
      await this.budget.turn(part.length, { priority, urgent, abort, ...waits });
      await guard?.ensure();
      const answered = await this.#tryPost(part, bounds);
      if (answered === null) continue;
      // The call itself may have made a new connection, to another node.
      await guard?.ensure();
      results.push(...answered);
      started = performance.now();
    }
    return results;
  }

  /** Null when the provider refused the calls: wait until the budget allows more, then try a smaller bundle. */
  async #tryPost(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[] | null> {
    const startedAt = performance.now();
    const measure = (outcome: RpcOutcome) => {
      // A call that its caller gave up says nothing about the node.
      if (bounds.abort?.aborted === true) return;
      this.#options.metrics?.rpc(methodOf(calls), outcome, secondsSince(startedAt));
    };
    try {
      const results = await this.post(calls, bounds);
      measure(results.every(({ ok }) => ok) ? "ok" : "error");
      this.#bundleSize.accepted(calls.length);
      this.budget.accepted(calls.length, startedAt);
      return results;
    } catch (error) {
      measure(outcomeOf(error));
      if (error instanceof BundleTooLarge) {
        if (this.#bundleSize.refused(calls.length)) return null;
        throw new ChainUnavailable("the node's provider accepts no batch of calls, not even of one", { cause: error });
      }
      // Where the caller set no limit, fewer calls may have an answer that is short enough.
      if (error instanceof AnswerTooLarge && bounds.answerBytes === undefined && calls.length > 1) {
        this.#bundleSize.refused(calls.length);
        return null;
      }
      if (!(error instanceof RateLimited)) {
        if (error instanceof ChainUnavailable) this.guard?.failed();
        throw error;
      }
      return null;
    }
  }

  /** Sends one HTTP request. @throws ChainUnavailable, BundleTooLarge */
  protected async post(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[]> {
    const startedAt = performance.now();
    const first = this.#id;
    this.#id += calls.length;
    const body = calls.map((call, index) => ({ jsonrpc: "2.0", id: first + index, ...call }));
    const http = await this.#send(JSON.stringify(body.length === 1 ? body[0] : body), bounds);
    const { retryAfter } = http;
    const sent = { size: calls.length, retryAfter, startedAt };
    if (http.status === 429) throw this.budget.refused(calls.length, sent);
    const answers = z.array(answer).safeParse(Array.isArray(http.json) ? http.json : [http.json]);
    if (!answers.success) throw this.#refusedAsWhole(http, sent);
    const byId = new Map(answers.data.map((one) => [one.id, one]));
    const isWhole = answers.data.length < calls.length;
    for (const { id, error } of answers.data) {
      this.#checkLimits(error, isWhole ? "" : (calls[id - first]?.method ?? ""), sent);
    }
    return calls.map((call, index) => {
      const found = byId.get(first + index);
      if (found === undefined) throw new ChainUnavailable(`the node did not answer ${call.method}`);
      if (found.error == null) return { ok: true, value: found.result };
      return { ok: false, error: new RpcError(found.error.code, found.error.message, revertData(found.error.data)) };
    });
  }

  /** An answer that belongs to no call. */
  #refusedAsWhole(http: HttpAnswer, sent: SentCalls): Error {
    const whole = refusal.safeParse(Array.isArray(http.json) ? http.json[0] : http.json);
    if (whole.success) this.#checkLimits(whole.data.error, "", sent);
    if (http.status === 413) {
      return sent.size > 1 ? new BundleTooLarge() : new RpcError(413, "HTTP status 413", null);
    }
    if (http.status === 503 && http.retryAfter !== null) return this.budget.unavailable(http.retryAfter);
    if (http.status >= 500) return new ChainUnavailable(`the node answered with HTTP status ${http.status.toString()}`);
    return new ChainUnavailable("the node's answer is not valid JSON-RPC: check RPC_URL");
  }

  /** @param method empty when the answer belongs to the whole bundle. @throws RateLimited, BundleTooLarge */
  #checkLimits(error: z.infer<typeof rpcError> | null | undefined, method: string, sent: SentCalls): void {
    if (error == null) return;
    const limit = limitOf(error, method);
    if (limit === "rate") throw this.budget.refused(sent.size, sent);
    if (limit === "bundle" && sent.size > 1) throw new BundleTooLarge(error.message);
  }

  /**
   * Sends the body again when its connection broke before the answer, once. Nodes and load balancers close idle connections,
   * and may do so at the moment of the next call. It is safe to send any call twice: a signed transaction has its effect only once.
   */
  async #send(body: string, bounds: RpcBounds, isAgain = false): Promise<HttpAnswer> {
    const { answerBytes = MAX_ANSWER, abort, timeout } = bounds;
    const late = AbortSignal.timeout(timeout ?? this.#options.timeout ?? TIMEOUT);
    try {
      const response = await request(this.url, {
        dispatcher: CONNECTIONS,
        method: "POST",
        headers: { "content-type": "application/json", "accept-encoding": "gzip" },
        body,
        signal: abort === undefined ? late : AbortSignal.any([late, abort]),
      });
      const { statusCode: status, headers } = response;
      if (status >= 300 && status < 400) throw redirected(response, this.url);
      const retryAfter = waitOfHeader(textOf(headers["retry-after"]) ?? null, Date.now());
      // Providers refuse calls with pages of HTML. The status then says more than the body.
      return { status, retryAfter, json: parseJson(await readText(response, answerBytes)) };
    } catch (error) {
      if (error instanceof AnswerTooLarge || error instanceof ChainUnavailable) throw error;
      const cause = faultOf(error);
      if (!isAgain && BROKEN_CONNECTION.includes(String(cause))) return this.#send(body, bounds, true);
      // The URL may contain a provider's key, so no message includes it.
      throw new ChainUnavailable("the node cannot be reached: check RPC_URL and that the node runs", { cause });
    }
  }
}

/** The values of calls that must all succeed. @throws RpcError */
export function valuesOf(results: readonly RpcResult[]): unknown[] {
  return results.map((result) => {
    if (!result.ok) throw result.error;
    return result.value;
  });
}

function chainOf(answers: unknown[]): ExpectedChain | null {
  const parsed = identity.safeParse(answers);
  if (!parsed.success) throw new ChainUnavailable("the node does not say which chain it serves");
  const [chainId, genesis] = parsed.data;
  return genesis === null ? null : { chainId, genesis: genesis.hash };
}

/** Connections to all nodes. HTTP/2 is off: what a proxy does to one stream must not end the calls of the others. */
const CONNECTIONS = new Agent({ allowH2: false });

/**
 * A redirect is not followed: with it, a node could make this process call any server of its network.
 * Only the origin of the target is named, because its path may contain a provider's key.
 */
function redirected(response: Dispatcher.ResponseData, from: string): NodeRedirects {
  discard(response);
  const target = URL.parse(textOf(response.headers["location"]) ?? "", from);
  return new NodeRedirects(target?.origin ?? null);
}

/** Closes the connection without reading the body. */
function discard(response: Dispatcher.ResponseData): void {
  response.body.on("error", () => undefined).destroy();
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(", ") : header;
}

/** How `undici` names a connection that the other side closed. */
const BROKEN_CONNECTION: readonly string[] = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

/** The code of a failed exchange, or else its name. Never its message, which may contain the URL. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/** How the metrics name a request: by its method, or as a batch of several methods. */
function methodOf(calls: readonly RpcCall[]): string {
  const [first] = calls;
  return first !== undefined && calls.every(({ method }) => method === first.method) ? first.method : "batch";
}

function outcomeOf(error: unknown): RpcOutcome {
  if (error instanceof RateLimited) return "rate_limited";
  if (error instanceof BundleTooLarge || error instanceof AnswerTooLarge || error instanceof RpcError) return "refused";
  return "unavailable";
}

/** Nodes put revert data in `data`, in `data.data`, or nowhere. */
function revertData(data: unknown): string | null {
  if (typeof data === "string" && data.startsWith("0x")) return data;
  if (typeof data === "object" && data !== null && "data" in data) return revertData(data.data);
  return null;
}

/**
 * Reads an answer as a stream. Stops at the limit, as sent and unpacked, so that no answer can fill the memory.
 * @throws AnswerTooLarge, ChainUnavailable for a content coding that was not asked for
 */
async function readText(response: Dispatcher.ResponseData, limit: number): Promise<string> {
  const coding = textOf(response.headers["content-encoding"])?.trim().toLowerCase() ?? "identity";
  if (coding === "identity") return textUpTo(limit, response.body);
  if (coding === "gzip")
    return pipeline(response.body, upTo(limit), createGunzip(), (bytes: AsyncIterable<Uint8Array>) =>
      textUpTo(limit, bytes),
    );
  discard(response);
  throw new ChainUnavailable(`the node's answer has the content coding ${coding}, which was not asked for`);
}

async function textUpTo(limit: number, source: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  // Leaving the loop by an error ends the stream, which closes the connection.
  for await (const chunk of upTo(limit)(source)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Passes bytes on. @throws AnswerTooLarge after more than `limit` of them */
function upTo(limit: number) {
  return async function* (source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let length = 0;
    for await (const chunk of source) {
      length += chunk.byteLength;
      if (length > limit) throw new AnswerTooLarge(limit);
      yield chunk;
    }
  };
}
