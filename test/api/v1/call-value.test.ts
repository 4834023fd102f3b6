import { once } from "node:events";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Worker } from "node:worker_threads";

import { expect } from "chai";

import { startApi, type TestApi } from "../support/api.ts";
import type { RepeatedCall } from "../support/calling-thread.ts";

const THREAD = join(import.meta.dirname, "..", "support", "calling-thread.ts");
const COUNT = 200;
const ROUNDS = 5;
/** A call that stays has more than 10,000 bytes. What it writes, and its log line, may stay. */
const MOST_BYTES = 7_000;

describe("a call that was answered", () => {
  let api: TestApi;
  let collect: NodeJS.GCFunction;
  before(async () => {
    api = await startApi();
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as NodeJS.GCFunction;
  });
  after(() => api.close());

  for (const [method, path] of [
    ["GET", "/healthz"],
    ["GET", "/v1/requests"],
    ["POST", "/v1/accounts"],
  ] as const) {
    it(`leaves with V8's next collection of young objects: ${method} ${path}`, async () => {
      const headers = { authorization: `Bearer ${api.app.token}`, "content-type": "application/json" };
      const init = { method, headers, ...(method === "POST" ? { body: "{}" } : {}) };
      const call: RepeatedCall = { url: `${api.baseUrl}${path}`, init, count: COUNT };
      const caller = new Worker(THREAD, { workerData: call });
      const rounds = async () => {
        for (let round = 0; round < ROUNDS; round++) {
          caller.postMessage("call");
          await once(caller, "message");
          // What has survived two of them is old.
          for (let time = 0; time < 2; time++) collect({ type: "minor", execution: "sync" });
        }
      };
      try {
        await rounds(); // warms up
        const before = process.memoryUsage().heapUsed;
        await rounds();
        expect((process.memoryUsage().heapUsed - before) / (COUNT * ROUNDS)).to.be.below(MOST_BYTES);
      } finally {
        await caller.terminate();
      }
    });
  }
});
