import type { ServerResponse } from "node:http";

import { type ProxiedCall, serveRpc } from "../../scripts/scene/rpc-proxy.ts";

export interface RpcFailure {
  error: { code: number; message: string; data?: unknown };
}

type Reply = (call: ProxiedCall) => unknown;

/** A fake node over real HTTP. The test sets its answers. */
export interface FakeRpc {
  url: string;
  calls: ProxiedCall[];
  /** The answer to each call: a result, or `{ error }`. */
  answer: Reply;
  /** Handles the whole HTTP request instead. */
  raw: ((calls: ProxiedCall[], response: ServerResponse) => void) | null;
  stop(): Promise<void>;
}

export async function startFakeRpc(answer: Reply): Promise<FakeRpc> {
  const listening = await serveRpc(({ calls, response, answer: send }) => {
    fake.calls.push(...calls);
    if (fake.raw !== null) fake.raw(calls, response);
    else {
      send(
        calls.map((call) => {
          const value = fake.answer(call);
          const failed = typeof value === "object" && value !== null && "error" in value;
          return { jsonrpc: "2.0", id: call.id, ...(failed ? value : { result: value }) };
        }),
      );
    }
    return Promise.resolve();
  });
  const fake: FakeRpc = { ...listening, calls: [], answer, raw: null };
  return fake;
}
