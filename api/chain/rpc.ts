import { z } from "zod";

import { AnswerTooLarge, ChainUnavailable, RpcError } from "./errors.ts";

export interface RpcCall {
  method: string;
  params: unknown[];
}

export type RpcResult = { ok: true; value: unknown } | { ok: false; error: RpcError };

/** Timeout of one HTTP request, in milliseconds. */
const TIMEOUT = 20_000;
/** Calls in one HTTP request. Common providers accept this many. */
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
  abort?: AbortSignal;
}

const answer = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  // Some nodes write `"error": null` beside a result.
  error: z.object({ code: z.number(), message: z.string().default(""), data: z.unknown().optional() }).nullish(),
});

/** JSON-RPC over HTTP. Answers are matched by id. If one is missing or malformed, the node counts as unavailable. */
export class Rpc {
  readonly #url: string;
  #id = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws RpcError, ChainUnavailable */
  async call(method: string, params: unknown[], bounds: RpcBounds = {}): Promise<unknown> {
    const [result] = await this.#post([{ method, params }], bounds);
    if (result === undefined) throw new ChainUnavailable(`the node did not answer ${method}`);
    if (!result.ok) throw result.error;
    return result.value;
  }

  /** Results in the order of the calls. An error of one call does not affect the others. @throws ChainUnavailable */
  async batch(calls: RpcCall[], bounds: RpcBounds = {}): Promise<RpcResult[]> {
    const results: RpcResult[] = [];
    const size = bounds.batch ?? MAX_BATCH;
    for (let start = 0; start < calls.length; start += size) {
      results.push(...(await this.#post(calls.slice(start, start + size), bounds)));
    }
    return results;
  }

  /** Like `batch`, for calls that must all succeed. @throws RpcError, ChainUnavailable */
  async all(calls: RpcCall[]): Promise<unknown[]> {
    return (await this.batch(calls)).map((result) => {
      if (!result.ok) throw result.error;
      return result.value;
    });
  }

  async #post(calls: RpcCall[], bounds: RpcBounds): Promise<RpcResult[]> {
    const first = this.#id;
    this.#id += calls.length;
    const body = calls.map((call, index) => ({ jsonrpc: "2.0", id: first + index, ...call }));
    const answers = z.array(answer).safeParse(await this.#exchange(body.length === 1 ? body[0] : body, bounds));
    if (!answers.success) throw new ChainUnavailable("the node's answer is not valid JSON-RPC: check RPC_URL");
    const byId = new Map(answers.data.map((one) => [one.id, one]));
    return calls.map((call, index) => {
      const found = byId.get(first + index);
      if (found === undefined) throw new ChainUnavailable(`the node did not answer ${call.method}`);
      if (found.error == null) return { ok: true, value: found.result };
      return { ok: false, error: new RpcError(found.error.code, found.error.message, revertData(found.error.data)) };
    });
  }

  async #exchange(body: unknown, { answerBytes = MAX_ANSWER, abort }: RpcBounds): Promise<unknown> {
    const timeout = AbortSignal.timeout(TIMEOUT);
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        signal: abort === undefined ? timeout : AbortSignal.any([timeout, abort]),
      });
      const json: unknown = JSON.parse(await readText(response, answerBytes));
      return Array.isArray(json) ? json : [json];
    } catch (error) {
      if (error instanceof AnswerTooLarge) throw error;
      // The URL may contain a provider's key, so no message includes it.
      throw new ChainUnavailable("the node cannot be reached: check RPC_URL and that the node runs", {
        cause: error instanceof Error ? error.name : error,
      });
    }
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

/** Nodes put revert data in `data`, in `data.data`, or nowhere. */
function revertData(data: unknown): string | null {
  if (typeof data === "string" && data.startsWith("0x")) return data;
  if (typeof data === "object" && data !== null && "data" in data) return revertData(data.data);
  return null;
}
