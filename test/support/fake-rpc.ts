import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

import { listenOnLoopback } from "./loopback-server.ts";

interface Call {
  id: number;
  method: string;
  params: unknown[];
}

export interface RpcFailure {
  error: { code: number; message: string; data?: unknown };
}

type Reply = (call: Call) => unknown;

/** A fake node over real HTTP. The test sets its answers. */
export interface FakeRpc {
  url: string;
  calls: Call[];
  /** The answer to each call: a result, or `{ error }`. */
  answer: Reply;
  /** Handles the whole HTTP request instead. */
  raw: ((calls: Call[], response: ServerResponse) => void) | null;
  stop(): Promise<void>;
}

export async function startFakeRpc(answer: Reply): Promise<FakeRpc> {
  const server = createServer((request, response) => {
    void read(request).then((text) => {
      const body = JSON.parse(text) as Call | Call[];
      const calls = Array.isArray(body) ? body : [body];
      fake.calls.push(...calls);
      if (fake.raw !== null) {
        fake.raw(calls, response);
        return;
      }
      const answers = calls.map((call) => {
        const value = fake.answer(call);
        const failed = typeof value === "object" && value !== null && "error" in value;
        return { jsonrpc: "2.0", id: call.id, ...(failed ? value : { result: value }) };
      });
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify(Array.isArray(body) ? answers : answers[0]));
    });
  });
  const fake: FakeRpc = { ...(await listenOnLoopback(server)), calls: [], answer, raw: null };
  return fake;
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
