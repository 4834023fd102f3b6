import { z } from "zod";

import { type Metrics, NO_METRICS, type RpcOutcome, secondsSince } from "../shared/metrics.ts";
import { pause } from "../shared/pause.ts";
import type { ChainGuard } from "./chain-guard.ts";
import { AnswerTooLarge, ChainUnavailable, RateLimited, RpcError } from "./errors.ts";
import { AdaptiveLimit, limitOf, waitOfHeader } from "./limits.ts";
import { type NodeChoice, ONE_NODE } from "./node-choice.ts";

export interface RpcCall {
  method: string;
  params: unknown[];
}

export type RpcResult = { ok: true; value: unknown } | { ok: false; error: RpcError };

/** Timeout of one HTTP request, in milliseconds. */
const TIMEOUT = 20_000;
/** Calls in one HTTP request, until a provider accepts only fewer. */
const MAX_BATCH = 100;
/** Largest answer to one HTTP request, in bytes. Logs of a busy range are the largest answers. */
const MAX_ANSWER = 64 * 1024 * 1024;

/** Narrower bounds for calls whose answer a stranger decides. */
export interface RpcBounds {
  /** Most calls in one HTTP request. */
  batch?: number;
  /** Largest answer to one HTTP request, in bytes. */
  answerBytes?: number;
  /** Ends the calls early. */
  abort?: AbortSignal | undefined;
}

export interface RpcOptions {
  maxWait?: number;
  timeout?: number;
  metrics?: Pick<Metrics, "rpc">;
}

const rpcError = z.object({ code: z.number(), message: z.string().default(""), data: z.unknown().optional() });
const answer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  // Some nodes write `"error": null` beside a result.
  error: rpcError.nullish(),
});
/** How nodes refuse a batch as a whole. */
const refusal = z.object({ error: rpcError });

/** The provider accepts fewer calls in one HTTP request. */
class BatchTooLarge extends Error {
  override readonly name = "BatchTooLarge";
}

interface HttpAnswer {
  status: number;
  /** Milliseconds; null without the header. */
  retryAfter: number | null;
  /** Undefined when the body is not JSON. */
  json: unknown;
}

/** JSON-RPC calls, of one node or of the first of several that answers. */
export abstract class RpcCalls {
  abstract readonly nodes: NodeChoice;

  /** Results in the order of the calls. An error of one call does not affect the others. @throws ChainUnavailable */
  abstract batch(calls: RpcCall[], bounds?: RpcBounds): Promise<RpcResult[]>;

  /** @throws RpcError, ChainUnavailable */
  async call(method: string, params: unknown[], bounds: RpcBounds = {}): Promise<unknown> {
    const [result] = await this.batch([{ method, params }], bounds);
    if (result === undefined) throw new ChainUnavailable(`the node did not answer ${method}`);
    if (!result.ok) throw result.error;
    return result.value;
  }

  /** Like `batch`, for calls that must all succeed. @throws RpcError, ChainUnavailable */
  async all(calls: RpcCall[], bounds: RpcBounds = {}): Promise<unknown[]> {
    return (await this.batch(calls, bounds)).map((result) => {
      if (!result.ok) throw result.error;
      return result.value;
    });
  }

  /** Sends signed bytes. @throws RpcError, ChainUnavailable: neither proves that no node took them. */
  async broadcast(raw: string): Promise<void> {
    await this.call("eth_sendRawTransaction", [raw]);
  }
}

/**
 * JSON-RPC over HTTP. Answers are matched by id. If one is missing or malformed, the node counts as unavailable. Batches
 * become smaller when a provider refuses them, and no call is sent while it limits the rate of calls.
 */
export class Rpc extends RpcCalls {
  override readonly nodes: NodeChoice = ONE_NODE;
  readonly #url: string;
  readonly #timeout: number;
  readonly #maxWait: number;
  readonly #metrics: Pick<Metrics, "rpc">;
  readonly #batchSize = new AdaptiveLimit(MAX_BATCH);
  readonly #pause = new CallPause();
  #guard: ChainGuard | null = null;
  #id = 0;

  /**
   * @param options.maxWait how long a call waits while the provider limits the rate of calls, in milliseconds. Default 0.
   * @param options.timeout of one HTTP request, in milliseconds.
   */
  constructor(url: string, options: RpcOptions = {}) {
    super();
    this.#url = url;
    this.#timeout = options.timeout ?? TIMEOUT;
    this.#maxWait = options.maxWait ?? 0;
    this.#metrics = options.metrics ?? NO_METRICS;
  }

  /** From now on, an answer counts only while the node serves the chain of the guard. */
  guardBy(guard: ChainGuard): void {
    this.#guard = guard;
  }

  /** Results in the order of the calls. An error of one call does not affect the others. @throws ChainUnavailable */
  override async batch(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    const results: RpcResult[] = [];
    let deadline = performance.now() + this.#maxWait;
    while (results.length < calls.length) {
      const size = Math.min(this.#batchSize.value, bounds.batch ?? MAX_BATCH);
      const part = calls.slice(results.length, results.length + size);
      await this.#pause.wait(deadline - performance.now(), bounds.abort);
      await this.#guard?.ensure();
      const answered = await this.#tryPost(part, bounds);
      // The call itself may have made a new connection, to another node.
      await this.#guard?.ensure();
      if (answered === null) continue;
      results.push(...answered);
      deadline = performance.now() + this.#maxWait;
    }
    return results;
  }

  /** Null when the provider refused the calls: wait for the pause, then try a smaller batch. */
  async #tryPost(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[] | null> {
    const started = performance.now();
    const measure = (outcome: RpcOutcome) => {
      // A call that its caller gave up says nothing about the node.
      if (bounds.abort?.aborted === true) return;
      this.#metrics.rpc(methodOf(calls), outcome, secondsSince(started));
    };
    try {
      const results = await this.#post(calls, bounds);
      measure(results.every(({ ok }) => ok) ? "ok" : "error");
      this.#batchSize.accepted(calls.length);
      this.#pause.accepted();
      return results;
    } catch (error) {
      measure(outcomeOf(error));
      if (error instanceof BatchTooLarge) {
        if (this.#batchSize.refused(calls.length)) return null;
        throw new ChainUnavailable("the node's provider accepts no batch of calls, not even of one", { cause: error });
      }
      // Where the caller set no limit, fewer calls may have an answer that is short enough.
      if (error instanceof AnswerTooLarge && bounds.answerBytes === undefined && calls.length > 1) {
        this.#batchSize.refused(calls.length);
        return null;
      }
      if (!(error instanceof RateLimited)) {
        if (error instanceof ChainUnavailable) this.#guard?.failed();
        throw error;
      }
      // Most providers count every call of a batch.
      this.#batchSize.refused(calls.length);
      return null;
    }
  }

  async #post(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[]> {
    const first = this.#id;
    this.#id += calls.length;
    const body = calls.map((call, index) => ({ jsonrpc: "2.0", id: first + index, ...call }));
    const http = await this.#exchange(JSON.stringify(body.length === 1 ? body[0] : body), bounds);
    if (http.status === 429) throw this.#pause.rateLimited(http.retryAfter);
    const answers = z.array(answer).safeParse(Array.isArray(http.json) ? http.json : [http.json]);
    if (!answers.success) throw this.#refusedAsWhole(http, calls);
    const byId = new Map(answers.data.map((one) => [one.id, one]));
    const isWhole = answers.data.length < calls.length;
    for (const { id, error } of answers.data) {
      this.#checkLimits(error, { size: calls.length, method: isWhole ? "" : (calls[id - first]?.method ?? "") }, http);
    }
    return calls.map((call, index) => {
      const found = byId.get(first + index);
      if (found === undefined) throw new ChainUnavailable(`the node did not answer ${call.method}`);
      if (found.error == null) return { ok: true, value: found.result };
      return { ok: false, error: new RpcError(found.error.code, found.error.message, revertData(found.error.data)) };
    });
  }

  /** An answer that belongs to no call. */
  #refusedAsWhole(http: HttpAnswer, calls: RpcCall[]): Error {
    const whole = refusal.safeParse(Array.isArray(http.json) ? http.json[0] : http.json);
    if (whole.success) this.#checkLimits(whole.data.error, { size: calls.length, method: "" }, http);
    if (http.status === 413) {
      return calls.length > 1 ? new BatchTooLarge() : new RpcError(413, "HTTP status 413", null);
    }
    if (http.status === 503 && http.retryAfter !== null) return this.#pause.unavailable(http.retryAfter);
    if (http.status >= 500) return new ChainUnavailable(`the node answered with HTTP status ${http.status.toString()}`);
    return new ChainUnavailable("the node's answer is not valid JSON-RPC: check RPC_URL");
  }

  /** @param call.method empty when the answer belongs to the whole batch. @throws RateLimited, BatchTooLarge */
  #checkLimits(
    error: z.infer<typeof rpcError> | null | undefined,
    call: { size: number; method: string },
    http: HttpAnswer,
  ): void {
    if (error == null) return;
    const limit = limitOf(error, call.method);
    if (limit === "rate") throw this.#pause.rateLimited(http.retryAfter);
    if (limit === "batch" && call.size > 1) throw new BatchTooLarge(error.message);
  }

  /**
   * Sends the body again when its connection broke before the answer, once. Nodes and load balancers close idle connections,
   * and may do so at the moment of the next call. It is safe to send any call twice: a signed transaction has its effect only once.
   */
  async #exchange(body: string, bounds: RpcBounds): Promise<HttpAnswer> {
    try {
      return await this.#send(body, bounds);
    } catch (error) {
      if (!(error instanceof ChainUnavailable && BROKEN_CONNECTION.includes(String(error.cause)))) throw error;
      return this.#send(body, bounds);
    }
  }

  async #send(body: string, { answerBytes = MAX_ANSWER, abort }: RpcBounds): Promise<HttpAnswer> {
    const timeout = AbortSignal.timeout(this.#timeout);
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        signal: abort === undefined ? timeout : AbortSignal.any([timeout, abort]),
      });
      const retryAfter = waitOfHeader(response.headers.get("retry-after"), Date.now());
      return { status: response.status, retryAfter, json: parseJson(await readText(response, answerBytes)) };
    } catch (error) {
      if (error instanceof AnswerTooLarge) throw error;
      // The URL may contain a provider's key, so no message includes it.
      throw new ChainUnavailable("the node cannot be reached: check RPC_URL and that the node runs", {
        cause: faultOf(error),
      });
    }
  }
}

/** How `fetch` names a connection that the other side closed. */
const BROKEN_CONNECTION: readonly string[] = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

/** The code of a failed `fetch`, or else its name. Never its message, which may contain the URL. */
function faultOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { cause } = error;
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : error.name;
}

function methodOf(calls: readonly RpcCall[]): string {
  const [first] = calls;
  return first !== undefined && calls.every(({ method }) => method === first.method) ? first.method : "batch";
}

function outcomeOf(error: unknown): RpcOutcome {
  if (error instanceof RateLimited) return "rate_limited";
  if (error instanceof BatchTooLarge || error instanceof AnswerTooLarge || error instanceof RpcError) return "refused";
  return "unavailable";
}

/** Nodes put revert data in `data`, in `data.data`, or nowhere. */
function revertData(data: unknown): string | null {
  if (typeof data === "string" && data.startsWith("0x")) return data;
  if (typeof data === "object" && data !== null && "data" in data) return revertData(data.data);
  return null;
}

/** Undefined when the text is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Providers refuse calls with pages of HTML. The status then says more than the body.
    return undefined;
  }
}

/** Reads an answer as a stream and stops at the limit, so that no answer can fill the memory. @throws AnswerTooLarge */
async function readText(response: Response, limit: number): Promise<string> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an error cancels the stream, which closes the connection.
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > limit) throw new AnswerTooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Wait after a refusal that names no time, in milliseconds. It doubles with each further refusal up to `LONGEST`. */
const FIRST = 1_000;
const LONGEST = 30_000;
/** Shortest wait, whatever the provider says. */
const SHORTEST = 250;
/**
 * Most milliseconds of the random time that is added after a rate limit. Providers count calls by the second. Two callers that
 * always waited exactly as told would come back in the same order within each second, and the later one would never get a call.
 */
const JITTER = 1_000;
const NEVER = new AbortController().signal;

/** While a provider refuses all calls, none is sent: after a rate limit, or for as long as `Retry-After` says. */
export class CallPause {
  /** Monotonic clock. */
  #until = 0;
  #isRateLimit = false;
  #refusals = 0;

  /**
   * Waits until calls may be sent again.
   * @param most longest wait in milliseconds.
   * @throws RateLimited, or ChainUnavailable during an outage, if the wait is longer.
   */
  async wait(most: number, abort: AbortSignal = NEVER): Promise<void> {
    for (;;) {
      const left = this.#until - performance.now();
      if (left <= 0) return;
      if (left > most || abort.aborted) throw this.#error(left);
      await pause(left, abort);
    }
  }

  /** The provider limits the rate of calls. @param retryAfter milliseconds, if it said so. */
  rateLimited(retryAfter: number | null): RateLimited {
    const told = Math.max(SHORTEST, retryAfter ?? Math.min(FIRST * 2 ** this.#refusals, LONGEST));
    const wait = told + Math.random() * JITTER;
    this.#refusals += 1;
    this.#start(wait, true);
    return new RateLimited(wait);
  }

  /** The provider is not available, and says for how long. */
  unavailable(retryAfter: number): ChainUnavailable {
    this.#start(Math.max(SHORTEST, retryAfter), false);
    return this.#error(retryAfter);
  }

  accepted(): void {
    this.#refusals = 0;
  }

  #start(wait: number, isRateLimit: boolean): void {
    this.#until = Math.max(this.#until, performance.now() + wait);
    this.#isRateLimit = isRateLimit;
  }

  #error(left: number): ChainUnavailable {
    if (this.#isRateLimit) return new RateLimited(left);
    return new ChainUnavailable("the node is not available (HTTP status 503): the service tries again when it said", {
      retryAfter: left,
    });
  }
}
