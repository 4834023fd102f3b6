import { createServer } from "node:http";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

import { expect } from "chai";

import { createClient } from "../../client/client.ts";
import { ConnectionFailed } from "../../client/errors.ts";
import { HeldTimers } from "../support/held-timers.ts";
import { rejectionOf } from "../support/rejection.ts";
import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Of an answer, in milliseconds. */
const TIMEOUT = 3_000;

/** Weak references are cleared between two turns of the event loop. */
async function collectAll(): Promise<void> {
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await setImmediate();
  }
}

/** After a garbage collection, the signal of a `Request` may no longer follow the signal that it was made from. */
describe("client after a garbage collection", () => {
  let server: Listening;
  let baseUrl: string;
  /** Resolve when the call has arrived, and when its connection is closed. */
  let arrived: Promise<unknown>;
  let closed: Promise<unknown>;
  let timers: HeldTimers;

  beforeEach(async () => {
    timers = new HeldTimers(TIMEOUT);
    const calls = Promise.withResolvers<unknown>();
    const ends = Promise.withResolvers<unknown>();
    [arrived, closed] = [calls.promise, ends.promise];
    const silent = createServer((request, response) => {
      response.once("close", ends.resolve);
      const type = request.headers.accept === "text/event-stream" ? "text/event-stream" : "application/json";
      if (request.url === "/v1/events") response.writeHead(200, { "content-type": type, "last-event-id": "a" });
      if (request.url === "/v1/events") response.write(type === "application/json" ? '{"events":' : "id: a\n\n");
      calls.resolve(null);
    });
    server = await listenOnLoopback(silent);
    baseUrl = server.url;
  });
  afterEach(() => {
    timers.release();
    return server.stop();
  });

  for (const [name, path] of [
    ["no answer", "/v1/webhook"],
    ["half of an answer", "/v1/events"],
  ] as const) {
    it(`ends a call at its timeout, given ${name}`, async () => {
      const reason = rejectionOf(createClient({ baseUrl, token: "t", timeout: TIMEOUT, maxRetries: 0 }).GET(path));
      await arrived;
      await collectAll();
      await timers.ring();
      expect(await reason).to.be.instanceOf(ConnectionFailed);
      expect(await reason)
        .to.have.property("message")
        .that.contains("No answer within 3000 ms.");
      await closed;
    });

    it(`ends a call when the caller aborts, given ${name}`, async () => {
      const abort = new AbortController();
      const client = createClient({ baseUrl, token: "t", signal: abort.signal });
      const reason = rejectionOf(client.GET(path));
      await arrived;
      await collectAll();
      abort.abort(new Error("enough"));
      expect(await reason).to.have.property("message", "enough");
      await closed;
    });
  }

  it("reports a silent stream as lost", async () => {
    const abort = new AbortController();
    const lost = Promise.withResolvers<unknown>();
    const opened = Promise.withResolvers<unknown>();
    const [onLost, onOpen, signal] = [lost.resolve, opened.resolve, abort.signal];
    const stream = createClient({ baseUrl, token: "t" }).events({ signal, silence: TIMEOUT, onLost, onOpen });
    const reason = rejectionOf(stream.next());
    await opened.promise;
    await collectAll();
    await timers.ring();
    expect(String(await lost.promise)).to.contain("Nothing came for 3000 ms");
    await closed;
    abort.abort(new Error("enough"));
    expect(await reason).to.have.property("message", "enough");
  });
});
