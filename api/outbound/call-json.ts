import { type Dispatcher, request } from "undici";

import { bounded } from "../shared/bounded.ts";
import { parseJson } from "../shared/text.ts";

interface JsonCall {
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Default: connects to any address. For URLs of the operator only. */
  agent?: Dispatcher;
  /** Most bytes of the answer. */
  maxBytes: number;
  /** Ends the whole exchange. */
  signal: AbortSignal;
}

interface JsonAnswer {
  status: number;
  /** Undefined when the answer is not JSON, too long, or a redirect. */
  json: unknown;
}

/** One HTTP exchange with an API that answers JSON. It follows no redirect. @throws when no answer arrives in time */
export async function callJson(url: string, call: JsonCall): Promise<JsonAnswer> {
  const { method = "GET", headers = {}, body, agent, maxBytes, signal } = call;
  const response = await request(url, {
    method,
    headers: { accept: "application/json", "accept-encoding": "identity", "user-agent": "moneta", ...headers },
    body: body ?? null,
    signal,
    // The signal enforces the timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
    ...(agent === undefined ? {} : { dispatcher: agent }),
  });
  const text = await textOf(response.body, maxBytes);
  const { statusCode: status } = response;
  const isRedirect = status >= 300 && status < 400;
  return {
    status,
    json: text === null || isRedirect ? undefined : parseJson(text),
  };
}

/** Null: it is too long. */
async function textOf(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  const tooLong = new Error("the answer is too long");
  try {
    for await (const chunk of bounded(body, maxBytes, () => tooLong)) chunks.push(chunk);
  } catch (error) {
    if (error === tooLong) return null;
    throw error;
  }
  return Buffer.concat(chunks).toString();
}
