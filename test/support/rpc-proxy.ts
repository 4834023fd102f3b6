import { Agent, createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from "node:http";

import { listenOnLoopback } from "./loopback-server.ts";

export interface ProxiedCall {
  id: number;
  method: string;
  params: unknown[];
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
  const agent = new Agent({ keepAlive: true });
  const server = createServer((request, response) => {
    const { intercept } = proxy;
    if (intercept === null) pass(request, response, { nodeUrl, agent });
    else answer(request, response, { nodeUrl, intercept }).catch(() => response.destroy());
  });
  const { url, stop } = await listenOnLoopback(server);
  return Object.assign(proxy, {
    url,
    stop: async () => {
      await stop();
      agent.destroy();
    },
  });
}

function pass(request: IncomingMessage, response: ServerResponse, to: { nodeUrl: string; agent: Agent }): void {
  const { "content-length": length } = request.headers;
  const headers = { "content-type": "application/json", ...(length === undefined ? {} : { "content-length": length }) };
  const forwarded = httpRequest(to.nodeUrl, { method: "POST", agent: to.agent, headers }, (answered) => {
    response.writeHead(answered.statusCode ?? 502, { "content-type": "application/json" });
    answered.on("error", () => response.destroy()).pipe(response);
  });
  forwarded.on("error", () => response.destroy());
  response.on("close", () => {
    // The service has given up.
    if (!response.writableFinished) forwarded.destroy();
  });
  request.pipe(forwarded);
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { nodeUrl, intercept }: { nodeUrl: string; intercept: Interception },
): Promise<void> {
  const body = JSON.parse(await read(request)) as ProxiedCall | ProxiedCall[];
  const calls = Array.isArray(body) ? body : [body];
  const own = new Map<number, object>();
  for (const call of calls) {
    const replaced = await intercept(call);
    if (replaced !== undefined) own.set(call.id, { jsonrpc: "2.0", id: call.id, ...replaced });
  }
  const rest = calls.filter((call) => !own.has(call.id));
  const answers = new Map<number, unknown>(own);
  if (rest.length > 0) {
    const forwarded = await fetch(nodeUrl, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(rest),
    });
    for (const answered of (await forwarded.json()) as { id: number }[]) answers.set(answered.id, answered);
  }
  const ordered = calls.map((call) => answers.get(call.id));
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify(Array.isArray(body) ? ordered : ordered[0]));
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
