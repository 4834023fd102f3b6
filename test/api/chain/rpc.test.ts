import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { expect } from "chai";

import { AnswerTooLarge, ChainUnavailable, describeError, RateLimited, RpcError } from "../../../api/chain/errors.ts";
import { Rpc, valuesOf } from "../../../api/chain/rpc.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";

describe("Rpc", () => {
  let node: FakeRpc;
  let rpc: Rpc;

  beforeEach(async () => {
    node = await startFakeRpc(({ params }) => params[0]);
    rpc = new Rpc(node.url);
  });
  afterEach(() => node.stop());

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => expect.fail("it answered"),
      (error: unknown) => error,
    );
  const send = (status: number, body: string) => {
    node.raw = (_calls, response) => response.writeHead(status, { "content-type": "application/json" }).end(body);
  };

  describe("given a batch", () => {
    it("returns results in the order of the calls, for any order of the answers", async () => {
      node.raw = (calls, response) =>
        response.end(
          JSON.stringify([...calls].reverse().map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] }))),
        );
      const calls = Array.from({ length: 250 }, (_, index) => ({ method: "echo", params: [index] }));
      expect(valuesOf(await rpc.bundle(calls))).to.deep.equal(Array.from({ length: 250 }, (_, index) => index));
    });

    it("returns the error of one call beside the results of the others", async () => {
      node.answer = ({ params }) =>
        params[0] === 1 ? { error: { code: 3, message: "reverted", data: "0xab" } } : params[0];
      const results = await rpc.bundle([0, 1, 2].map((value) => ({ method: "echo", params: [value] })));
      expect(
        results.map((result) => (result.ok ? result.value : [result.error.code, result.error.data])),
      ).to.deep.equal([0, [3, "0xab"], 2]);
    });

    it("throws ChainUnavailable when one answer is missing", async () => {
      node.raw = (calls, response) =>
        response.end(JSON.stringify(calls.slice(1).map(({ id }) => ({ jsonrpc: "2.0", id, result: 1 }))));
      expect(await failure(rpc.bundle([1, 2].map((value) => ({ method: "echo", params: [value] }))))).to.be.instanceOf(
        ChainUnavailable,
      );
    });
  });

  describe("given an invalid answer", () => {
    const bodies: [string, number, string][] = [
      ["malformed JSON", 200, "{"],
      ["an error page", 500, "<html>oops</html>"],
      ["nothing", 204, ""],
      ["another shape", 200, '"hello"'],
      ["an error without an id", 200, '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse"}}'],
      ["another call's id", 200, '{"jsonrpc":"2.0","id":999,"result":1}'],
    ];
    for (const [what, status, body] of bodies) {
      it(`throws ChainUnavailable: ${what}`, async () => {
        send(status, body);
        expect(await failure(rpc.call("echo", [1]))).to.be.instanceOf(ChainUnavailable);
      });
    }

    it("throws ChainUnavailable when the connection breaks, and breaks again", async () => {
      let times = 0;
      node.raw = (_calls, response) => {
        times += 1;
        response.destroy();
      };
      const error = await failure(rpc.call("echo", [1]));
      expect(error).to.be.instanceOf(ChainUnavailable);
      expect((error as Error).message).to.not.include(node.url);
      expect(times).to.equal(2);
    });

    it("sends the calls again when the connection breaks once, as an idle one may", async () => {
      node.raw = (_calls, response) => {
        node.raw = null;
        response.destroy();
      };
      expect(await rpc.call("echo", [1])).to.equal(1);
    });
  });

  describe("given a compressed answer", () => {
    const packed = (coding: string, body: Uint8Array) => {
      node.raw = (_calls, response) => response.writeHead(200, { "content-encoding": coding }).end(body);
    };
    const result = (value: unknown) => Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 0, result: value }));

    it("asks for gzip alone, and reads it", async () => {
      const asked: unknown[] = [];
      node.raw = (_calls, response) => {
        asked.push(response.req.headers["accept-encoding"]);
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(result("packed")));
      };
      expect(await rpc.call("echo", [1])).to.equal("packed");
      expect(asked).to.deep.equal(["gzip"]);
    });

    it("stops unpacking at the limit", async () => {
      packed("gzip", gzipSync(result("0".repeat(30_000_000))));
      expect(await failure(rpc.call("echo", [1], { answerBytes: 1_000_000 }))).to.be.instanceOf(AnswerTooLarge);
    });

    for (const [coding, body] of [
      ["zstd", zstdCompressSync(result(1))],
      ["br", brotliCompressSync(result(1))],
      ["deflate", deflateSync(result(1))],
      ["gzip, gzip", gzipSync(gzipSync(result(1)))],
    ] as const) {
      it(`refuses ${coding}, which was not asked for`, async () => {
        packed(coding, body);
        const error = await failure(rpc.call("echo", [1]));
        expect(error).to.be.instanceOf(ChainUnavailable);
        expect((error as Error).message).to.contain(`the content coding ${coding}`);
      });
    }

    it("throws ChainUnavailable for bytes that are not gzip", async () => {
      packed("gzip", result(1));
      expect(await failure(rpc.call("echo", [1]))).to.be.instanceOf(ChainUnavailable);
    });
  });

  for (const status of [301, 302, 303, 307, 308]) {
    it(`follows no redirect with status ${status.toString()}, and names the origin of its target`, async () => {
      const target = await startFakeRpc(() => "inside");
      const location = `${target.url.replace("//", "//user:password@")}/latest/secret?key=secret`;
      node.raw = (_calls, response) => response.writeHead(status, { location }).end();
      const error = await failure(rpc.call("echo", [1]));
      await target.stop();
      expect(error).to.be.instanceOf(ChainUnavailable);
      expect((error as Error).message).to.equal(
        `the node redirects to ${target.url}, and redirects are not followed: set RPC_URL to the final address`,
      );
      expect(target.calls).to.deep.equal([]);
    });
  }

  describe("given an answer that never ends", () => {
    it("stops reading at the limit, and closes the connection", async () => {
      let sent = 0;
      const closed = new Promise<void>((resolve) => {
        node.raw = (_calls, response) => {
          response.on("close", resolve);
          const chunk = Buffer.alloc(64 * 1024, "0");
          const fill = () => {
            while (!response.destroyed && sent < 256 * 1024 * 1024) {
              sent += chunk.length;
              if (!response.write(chunk)) return;
            }
          };
          response.on("drain", fill);
          fill();
        };
      });
      expect(await failure(rpc.call("echo", [1], { answerBytes: 1_000_000 }))).to.be.instanceOf(AnswerTooLarge);
      await closed;
      // What the sockets buffer comes on top of the limit.
      expect(sent).to.be.below(32 * 1024 * 1024);
    });

    it("ends the call when it is aborted", async () => {
      const stop = new AbortController();
      node.raw = () => {
        stop.abort();
      };
      expect(await failure(rpc.call("echo", [1], { abort: stop.signal }))).to.be.instanceOf(ChainUnavailable);
    });
  });

  it("accepts an error field that is null", async () => {
    node.raw = (calls, response) =>
      response.end(JSON.stringify({ jsonrpc: "2.0", id: calls[0]?.id, result: 5, error: null }));
    expect(await rpc.call("echo", [])).to.equal(5);
  });

  it("keeps the node's own message, which may contain a key, out of the text for readyz", async () => {
    node.answer = () => ({ error: { code: -32001, message: "key abc123 is unknown" } });
    const error = await failure(rpc.call("echo", []));
    expect(error).to.be.instanceOf(RpcError);
    expect(describeError(error)).to.equal("the node answered a call with error code -32001");
  });

  describe("given a provider with limits", () => {
    const echo = (count: number) => Array.from({ length: count }, (_, index) => ({ method: "echo", params: [index] }));
    const answerTo = (calls: { id: number; params: unknown[] }[]) =>
      JSON.stringify(calls.map(({ id, params }) => ({ jsonrpc: "2.0", id, result: params[0] })));

    for (const [what, status, body] of [
      [
        "an error for the whole batch",
        200,
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}',
      ],
      ["HTTP 413", 413, "<html>Payload Too Large</html>"],
    ] as const) {
      it(`makes batches smaller: ${what}`, async () => {
        const sizes: number[] = [];
        node.raw = (calls, response) => {
          sizes.push(calls.length);
          if (calls.length > 10) response.writeHead(status).end(body);
          else response.end(answerTo([calls].flat()));
        };
        expect(valuesOf(await rpc.bundle(echo(30)))).to.deep.equal(Array.from({ length: 30 }, (_, index) => index));
        expect(sizes.slice(0, 3)).to.deep.equal([30, 15, 7]);
      });
    }

    it("sends no call before Retry-After has passed, and says that it is a rate limit", async () => {
      let sent = 0;
      node.raw = (_calls, response) => {
        sent += 1;
        response.writeHead(429, { "retry-after": "30" }).end("Too Many Requests");
      };
      for (let call = 0; call < 3; call++) {
        const error = await failure(rpc.call("echo", [1]));
        expect(error).to.be.instanceOf(RateLimited);
        // Up to a second is added at random.
        expect((error as RateLimited).retryAfter).to.be.within(15_000, 31_000);
      }
      expect(sent).to.equal(1);
    });

    it("honours Retry-After of HTTP 503 too, but calls it an outage", async () => {
      node.raw = (_calls, response) => response.writeHead(503, { "retry-after": "30" }).end("maintenance");
      await failure(rpc.call("echo", [1]));
      const error = await failure(rpc.call("echo", [1]));
      expect(error).to.be.instanceOf(ChainUnavailable).and.not.instanceOf(RateLimited);
      expect((error as ChainUnavailable).retryAfter).to.be.within(15_000, 30_000);
      expect(node.calls).to.have.length(1);
    });

    it("waits and continues where it was, if the caller allows it", async () => {
      const patient = new Rpc(node.url, { maxWait: 60_000 });
      let refused = 0;
      node.raw = (calls, response) => {
        if (calls.length > 2 || refused++ % 2 === 0) response.writeHead(429, { "retry-after": "0" }).end();
        else response.end(answerTo(calls));
      };
      expect(valuesOf(await patient.bundle(echo(5)))).to.deep.equal([0, 1, 2, 3, 4]);
    });

    it("takes a rate limit of one call in a batch as one of the batch", async () => {
      node.answer = ({ params }) =>
        params[0] === 1 ? { error: { code: -32007, message: "50/second request limit reached" } } : params[0];
      expect(await failure(rpc.bundle(echo(3)))).to.be.instanceOf(RateLimited);
    });

    it("is not paused by the text of a revert", async () => {
      node.answer = () => ({
        error: { code: 3, message: "execution reverted: rate limit exceeded", data: "0x08c379a0" },
      });
      const [result] = await rpc.bundle([{ method: "eth_call", params: [] }]);
      expect(result).to.deep.include({ ok: false });
      node.answer = () => 5;
      expect(await rpc.call("echo", [])).to.equal(5);
    });
  });
});
