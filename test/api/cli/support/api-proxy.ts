import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { listenOnLoopback } from "../../../../scripts/scene/loopback.ts";

interface ApiCall {
  /** Such as `POST /v1/media`. */
  name: string;
  body: Buffer;
}

/** `lost`: the service gets the call, and the caller gets no answer. undefined lets the service answer. */
type Answer = "lost" | { status: number; body?: object } | undefined;

/** A proxy between a client and a real service. A test can replace the service's answers. */
export interface ApiProxy {
  url: string;
  intercept: (call: ApiCall) => Answer;
  /** The calls so far. */
  calls: ApiCall[];
  /** The largest sum of `Content-Length` of calls at the same time. */
  mostBytes: number;
  stop(): Promise<void>;
}

export async function startApiProxy(target: string): Promise<ApiProxy> {
  const proxy: ApiProxy = {
    url: "",
    intercept: () => undefined,
    calls: [],
    mostBytes: 0,
    stop: () => Promise.resolve(),
  };
  let bytes = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const length = Number(request.headers["content-length"] ?? 0);
    proxy.mostBytes = Math.max(proxy.mostBytes, (bytes += length));
    try {
      await forward(proxy, target, { request, response });
    } finally {
      bytes -= length;
    }
  };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  return Object.assign(proxy, await listenOnLoopback(server));
}

async function forward(
  proxy: ApiProxy,
  target: string,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const { method = "GET", url = "/", headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const call = { name: `${method} ${url}`, body: Buffer.concat(chunks) };
  proxy.calls.push(call);
  const own = proxy.intercept(call);
  if (own !== undefined && own !== "lost") {
    response.writeHead(own.status, { "content-type": "application/json" }).end(JSON.stringify(own.body ?? {}));
    return;
  }
  const sent = ["authorization", "content-type", "idempotency-key"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] as [string, string]] : [];
  });
  const body = method === "POST" ? { body: new Uint8Array(call.body) } : {};
  const answer = await fetch(`${target}${url}`, { method, headers: sent, ...body });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (own === "lost") response.destroy();
  else response.writeHead(answer.status, { "content-type": "application/json" }).end(bytes);
}
