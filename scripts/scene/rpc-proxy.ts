import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";

import { type Listening, listenOnLoopback } from "./loopback.ts";

export interface ProxiedCall {
  id: number;
  method: string;
  params: unknown[];
}

/** An HTTP request to a node, with one call or a batch of them, and its response. */
export interface Exchange {
  /** The body as it arrived. */
  body: string;
  calls: ProxiedCall[];
  response: ServerResponse;
  /** Sends the answers of the calls, in their order. */
  answer: (answers: readonly unknown[]) => void;
  /** Sends an error in place of all answers, as nodes do with a batch that they do not take. */
  refuse: (error: { code: number; message: string }) => void;
}

/** Passes the bytes of an HTTP request on to the node at the URL, and those of its response back. */
type Pass = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Serves JSON-RPC on a free port.
 * @param handle sends the response. When it fails, the connection is closed.
 * @param passOn gives what passes a request on without reading it; null when `handle` gets the request.
 */
export async function serveRpc(
  handle: (exchange: Exchange) => Promise<void>,
  passOn: () => Pass | null = () => null,
): Promise<Listening> {
  const receive = async (body: string, response: ServerResponse) => {
    const parsed = JSON.parse(body) as ProxiedCall | ProxiedCall[];
    const isBatch = Array.isArray(parsed);
    const send = (json: unknown) => response.setHeader("content-type", "application/json").end(JSON.stringify(json));
    await handle({
      body,
      calls: isBatch ? parsed : [parsed],
      response,
      answer: (answers) => send(isBatch ? answers : answers[0]),
      refuse: (error) => send({ jsonrpc: "2.0", id: null, error }),
    });
  };
  const server = createServer((request, response) => {
    const pass = passOn();
    if (pass !== null) {
      pass(request, response);
      return;
    }
    text(request)
      .then((body) => receive(body, response))
      .catch(() => response.destroy());
  });
  return listenOnLoopback(server);
}

/** Sends a body to a node as it is, through a connection of its own, like `passTo`. */
export function postToNode(url: string, body: string): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", connection: "close" }, body });
}

/** A proxy in front of a node, which changes some of what passes through it. */
export abstract class NodeProxy {
  /** URL of the node. */
  target: string;
  #server: Listening | null = null;

  protected constructor(target: string) {
    this.target = target;
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
  }

  protected abstract handle(exchange: Exchange): Promise<void>;

  protected async listen(): Promise<this> {
    this.#server = await serveRpc((exchange) => this.handle(exchange));
    return this;
  }

  /** Passes everything on unchanged, with the status and the headers of a refusal. @returns the answer. */
  protected async pass({ body, response }: Exchange): Promise<string> {
    const answer = await postToNode(this.target, body);
    const retryAfter = answer.headers.get("retry-after");
    if (retryAfter !== null) response.setHeader("retry-after", retryAfter);
    const text = await answer.text();
    response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
    return text;
  }
}

type Answer = { result: unknown } | { error: { code: number; message: string } } | undefined;

/** Answers a call in place of the node, now or later. undefined lets the node answer. */
export type Interception = (call: ProxiedCall) => Answer | Promise<Answer>;

/** A proxy between a service and a real node. A test can replace the node's answers. */
export interface RpcProxy {
  url: string;
  /** null: the node answers everything, and the proxy passes the bytes on without reading them. */
  intercept: Interception | null;
  stop(): Promise<void>;
}

export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const proxy: RpcProxy = { url: "", intercept: null, stop: () => Promise.resolve() };
  const listening = await serveRpc(
    async ({ calls, answer }) => {
      const answers = new Map<number, unknown>();
      for (const call of calls) {
        const own = await proxy.intercept?.(call);
        if (own !== undefined) answers.set(call.id, { jsonrpc: "2.0", id: call.id, ...own });
      }
      const rest = calls.filter(({ id }) => !answers.has(id));
      if (rest.length > 0) {
        const forwarded = await postToNode(nodeUrl, JSON.stringify(rest));
        for (const one of (await forwarded.json()) as { id: number }[]) answers.set(one.id, one);
      }
      answer(calls.map(({ id }) => answers.get(id)));
    },
    () => (proxy.intercept === null ? passTo(nodeUrl) : null),
  );
  return Object.assign(proxy, listening);
}

/** Each request has a connection of its own: the node may close one that was idle at the moment in which it is used again. */
function passTo(nodeUrl: string): Pass {
  return (request, response) => {
    const { "content-length": length } = request.headers;
    const sized = length === undefined ? {} : { "content-length": length };
    const headers = { "content-type": "application/json", ...sized };
    const forwarded = httpRequest(nodeUrl, { method: "POST", agent: false, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 502, { "content-type": "application/json" });
      answered.on("error", () => response.destroy()).pipe(response);
    });
    forwarded.on("error", () => response.destroy());
    response.on("close", () => {
      // The service has given up.
      if (!response.writableFinished) forwarded.destroy();
    });
    request.pipe(forwarded);
  };
}
