import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";

import { Random } from "./random.ts";

/** A JSON-RPC call. */
interface Call {
  id: number;
  method: string;
  params: unknown[];
}

/** What the proxy does to calls while a fault lasts. */
export interface RpcFault {
  /** How likely it affects a call, from 0 to 1. */
  probability: number;
  /** Methods that it can affect. Absent: all. */
  methods?: string[];
  kind:
    | "drop"
    | "delay"
    | "duplicate"
    | "status-500"
    | "status-429"
    | "lose-broadcast"
    | "answer-broadcast-with-error"
    | "hide-receipts"
    | "lag"
    | "old-nonce"
    | "garbage";
  /** Milliseconds of a delay, or blocks of a lag. */
  amount?: number;
}

interface Answer {
  id: number;
  result: string;
}

/** A proxy between the service and its node, which injects faults. */
export class FaultProxy {
  readonly #server: Server;
  readonly #random: Random;
  #target: string;
  #fault: RpcFault | null = null;
  /** How many HTTP requests the current fault has affected. */
  injected = 0;

  private constructor(target: string, seed: number) {
    this.#target = target;
    this.#random = new Random(seed);
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  static async start(target: string, seed: number): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, seed);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port.toString()}`;
  }

  set target(url: string) {
    this.#target = url;
  }

  set fault(fault: RpcFault | null) {
    this.#fault = fault;
    this.injected = 0;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    const parsed = JSON.parse(body) as Call | Call[];
    const calls = Array.isArray(parsed) ? parsed : [parsed];
    const fault = this.#fault;
    const affected =
      fault !== null && calls.some((call) => canAffect(fault, call)) && this.#random.chance(fault.probability);
    if (!affected) {
      await this.#pass(body, response);
      return;
    }
    this.injected++;
    await this.#inject(fault, calls, body, response);
  }

  async #inject(fault: RpcFault, calls: Call[], body: string, response: ServerResponse): Promise<void> {
    const json = (answers: unknown[]) =>
      response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify(calls.length === 1 ? answers[0] : answers));
    switch (fault.kind) {
      case "drop":
        response.destroy();
        return;
      case "delay":
        await wait(fault.amount ?? 500);
        response.setHeader("content-type", "application/json").end(await this.#forward(body));
        return;
      case "duplicate":
        await this.#forward(body);
        response.setHeader("content-type", "application/json").end(await this.#forward(body));
        return;
      case "status-500":
        response.writeHead(500).end("internal error");
        return;
      case "status-429":
        response.writeHead(429, { "retry-after": "1" }).end('{"error":"rate limit"}');
        return;
      case "garbage":
        response.setHeader("content-type", "application/json").end('{"jsonrpc":"2.0","id":');
        return;
      case "lose-broadcast":
        // Answers that it accepted the transaction, and drops it.
        json(calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: `0x${"00".repeat(32)}` })));
        return;
      case "answer-broadcast-with-error":
        await this.#forward(body);
        json(
          calls.map((call) => ({ jsonrpc: "2.0", id: call.id, error: { code: -32000, message: "internal error" } })),
        );
        return;
      case "hide-receipts":
        json(calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: null })));
        return;
      case "old-nonce":
        json(calls.map((call) => ({ jsonrpc: "2.0", id: call.id, result: "0x0" })));
        return;
      case "lag": {
        const answers = JSON.parse(await this.#forward(body)) as Answer | Answer[];
        json(
          [answers].flat().map((answer) => {
            const call = calls.find(({ id }) => id === answer.id);
            if (call?.method !== "eth_blockNumber") return answer;
            const head = Math.max(0, Number(answer.result) - (fault.amount ?? 2));
            return { ...answer, result: `0x${head.toString(16)}` };
          }),
        );
        return;
      }
    }
  }

  /** Passes a call on unchanged, with the status and the headers of a refusal. */
  async #pass(body: string, response: ServerResponse): Promise<void> {
    const answer = await fetch(this.#target, { method: "POST", headers: { "content-type": "application/json" }, body });
    const retryAfter = answer.headers.get("retry-after");
    if (retryAfter !== null) response.setHeader("retry-after", retryAfter);
    response.writeHead(answer.status, { "content-type": "application/json" }).end(await answer.text());
  }

  async #forward(body: string): Promise<string> {
    const answer = await fetch(this.#target, { method: "POST", headers: { "content-type": "application/json" }, body });
    return answer.text();
  }
}

/**
 * A fault that rewrites answers rewrites all answers of an HTTP request. So its methods must be ones that the service sends
 * alone, or in batches of the same method.
 */
function canAffect(fault: RpcFault, call: Call): boolean {
  return fault.methods === undefined || fault.methods.includes(call.method);
}
