import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, constants, createZstdCompress, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";

import { expect } from "chai";

import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { download, MediaError } from "../../../api/outbound/download.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { collect } from "../../support/collect.ts";

const LIMIT = 1_000_000;
type Handler = (response: ServerResponse, request: IncomingMessage) => void;

describe("download", () => {
  let listening: Listening;
  let base: string;
  let handlers: Record<string, Handler>;
  const seen: string[] = [];
  // The policy allows the address of this server, and no other on this machine.
  const agent = createOutboundAgent({ allowedHosts: new Set(["127.0.0.1"]), allowLoopback: false });

  before(async () => {
    const server = createServer((request, response) => {
      const path = request.url ?? "";
      seen.push(path);
      const handler = handlers[path];
      if (handler === undefined) response.writeHead(404).end();
      else handler(response, request);
    });
    listening = await listenOnLoopback(server);
    base = listening.url;
  });
  beforeEach(() => {
    handlers = {};
    seen.length = 0;
  });
  after(async () => {
    await agent.destroy();
    await listening.stop();
  });

  // By default long enough for a busy machine.
  const get = async (url: string, deadline = 60_000) =>
    Buffer.concat(await collect(download(url, { agent, maxBytes: LIMIT, signal: AbortSignal.timeout(deadline) })));
  const serve = async (handler: Handler, deadline?: number) => {
    handlers["/"] = handler;
    return get(`${base}/`, deadline);
  };
  const problem = async (work: Promise<unknown>): Promise<string> => {
    const error: unknown = await work.then(
      () => "no error",
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof MediaError)) return String(error);
    expect(error.message).to.not.contain("127.0.0.1");
    return error.transient ? `${error.errorCode}, for now` : error.errorCode;
  };
  const redirect =
    (to: string): Handler =>
    (response) =>
      response.writeHead(302, { location: to }).end();

  it("returns the bytes, and asks for an uncompressed answer", async () => {
    let encoding: string | undefined;
    const bytes = await serve((response, request) => {
      encoding = request.headers["accept-encoding"];
      response.end("cat");
    });
    expect([bytes.toString(), encoding]).to.deep.equal(["cat", "identity"]);
  });

  for (const [coding, pack] of [
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const) {
    it(`decompresses ${coding}, and stops a bomb at the limit`, async () => {
      const header = { "content-encoding": coding };
      expect((await serve((response) => response.writeHead(200, header).end(pack("cat")))).toString()).to.equal("cat");
      const bomb = pack(Buffer.alloc(50 * LIMIT));
      expect(bomb.length).to.be.lessThan(LIMIT / 5);
      expect(await problem(serve((response) => response.writeHead(200, header).end(bomb)))).to.equal("media_too_large");
    });
  }

  describe("given zstd", () => {
    /** Flushed in between, so that the encoder does not know the size and names the whole window. */
    const frame = async (windowLog: number) => {
      const encoder = createZstdCompress({ params: { [constants.ZSTD_c_windowLog]: windowLog } });
      encoder.write(Buffer.alloc(60_000, "cat"));
      encoder.flush(() => encoder.end(Buffer.alloc(40_000, "cat")));
      return buffer(encoder);
    };
    const header = { "content-encoding": "zstd" };

    it("reads a window of 8 MiB", async () => {
      const body = await frame(23);
      expect(await serve((response) => response.writeHead(200, header).end(body))).to.have.length(100_000);
    });

    for (const windowLog of [24, 27]) {
      it(`refuses a window of 2^${windowLog.toString()} bytes`, async () => {
        const body = await frame(windowLog);
        expect(await problem(serve((response) => response.writeHead(200, header).end(body)))).to.equal(
          "media_unavailable",
        );
      });
    }
  });

  it("stops at the limit of bytes as sent: members of gzip without content cost time", async () => {
    const member = gzipSync("");
    const empty = Buffer.concat(Array<Buffer>((2 * LIMIT) / member.length).fill(member));
    const header = { "content-encoding": "gzip" };
    expect(await problem(serve((response) => response.writeHead(200, header).end(empty)))).to.equal("media_too_large");
  });

  it("refuses unknown content codings, and bytes that do not match the declared coding", async () => {
    for (const [coding, body] of [
      ["compress", "x"],
      ["gzip, gzip", gzipSync(gzipSync("x"))],
      ["gzip, br", gzipSync("x")],
      ["gzip", "no gzip"],
      ["gzip", gzipSync("truncated").subarray(0, 15)],
    ] as const) {
      const work = serve((response) => response.writeHead(200, { "content-encoding": coding }).end(body));
      expect(await problem(work), coding).to.equal("media_unavailable");
    }
  });

  describe("redirects", () => {
    it("are followed up to a limit, relative ones too", async () => {
      for (let hop = 1; hop <= 6; hop++) handlers[`/${hop.toString()}`] = redirect(`/${(hop - 1).toString()}`);
      handlers["/0"] = (response) => response.end("end");
      expect((await get(`${base}/5`)).toString()).to.equal("end");
      expect(await problem(get(`${base}/6`))).to.equal("media_unavailable");
      expect(await problem(serve(redirect("data:text/plain,x")))).to.equal("media_blocked");
    });
  });

  it("has one deadline for all slow redirects", async () => {
    for (let hop = 0; hop < 6; hop++) {
      handlers[`/${hop.toString()}`] = (response) =>
        void setTimeout(() => response.writeHead(302, { location: `/${(hop + 1).toString()}` }).end(), 200);
    }
    expect(await problem(get(`${base}/0`, 400))).to.equal("media_unavailable");
    expect(seen.length).to.be.lessThan(5);
  });

  it("ignores bytes beyond the declared length", async () => {
    const raw = ["HTTP/1.1 200 OK", "Content-Length: 3", "Connection: close", "", "cat and more"].join("\r\n");
    const bytes = await serve((response) => response.socket?.end(raw));
    expect(bytes.toString()).to.equal("cat");
  });

  it("distinguishes transient failures from permanent ones", async () => {
    for (const [status, outcome] of [
      [404, "media_unavailable"],
      [401, "media_unavailable"],
      [206, "media_unavailable"],
      [429, "media_unavailable, for now"],
      [503, "media_unavailable, for now"],
    ] as const) {
      expect(await problem(serve((response) => response.writeHead(status).end())), status.toString()).to.equal(outcome);
    }
    for (const hostile of [
      (response: ServerResponse) => response.destroy(),
      (response: ServerResponse) =>
        response.writeHead(200, { "content-length": "100" }).write("short", () => response.destroy()),
    ])
      expect(await problem(serve(hostile))).to.equal("media_unavailable, for now");
    expect(await problem(get("http://"))).to.equal("media_unavailable");
  });
});
