import { createServer, type IncomingMessage } from "node:http";

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
  intercept: Interception;
  stop(): Promise<void>;
}

export async function startRpcProxy(nodeUrl: string): Promise<RpcProxy> {
  const proxy: RpcProxy = { url: "", intercept: () => undefined, stop: () => Promise.resolve() };
  const server = createServer((request, response) => {
    void (async () => {
      const body = JSON.parse(await read(request)) as ProxiedCall | ProxiedCall[];
      const calls = Array.isArray(body) ? body : [body];
      const own = new Map<number, object>();
      for (const call of calls) {
        const answer = await proxy.intercept(call);
        if (answer !== undefined) own.set(call.id, { jsonrpc: "2.0", id: call.id, ...answer });
      }
      const rest = calls.filter((call) => !own.has(call.id));
      const answers = new Map<number, unknown>(own);
      if (rest.length > 0) {
        const forwarded = await fetch(nodeUrl, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(rest),
        });
        for (const answer of (await forwarded.json()) as { id: number }[]) answers.set(answer.id, answer);
      }
      const ordered = calls.map((call) => answers.get(call.id));
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify(Array.isArray(body) ? ordered : ordered[0]));
    })().catch(() => response.destroy());
  });
  return Object.assign(proxy, await listenOnLoopback(server));
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
