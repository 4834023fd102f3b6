import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";

import { expect } from "chai";

import { BlockFiles } from "../../../../api/content/block-files.ts";
import { type CopyDeps, copyMedia } from "../../../../api/content/copy/copy-media.ts";
import { MediaError } from "../../../../api/outbound/download.ts";
import { createOutboundAgent } from "../../../../api/outbound/agent.ts";
import { useFolder } from "../../../support/use-folder.ts";

/** Milliseconds. A refusal that waited for a network would end with `PATIENCE`, and with another code. */
const AT_ONCE = 20_000;
/** Milliseconds that a server gets which never ends its answer. */
const DEADLINE = 1_000;
/** Milliseconds for an answer that must be read before it is refused: enough on a busy machine. */
const PATIENCE = 30_000;
const LIMIT = 1_000_000;

const BOMB = gzipSync(Buffer.alloc(50 * LIMIT));

/** URLs that must be refused. PORT is that of a server on this machine. */
const BLOCKED = [
  "http://127.0.0.1:PORT/",
  "http://localhost:PORT/",
  "http://LOCALHOST:PORT/",
  "http://[::1]:PORT/",
  "http://0.0.0.0:PORT/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://192.168.0.1/",
  "http://100.64.0.1/",
  "http://[fd12::1]/",
  "http://169.254.1.1/",
  "http://[fe80::1]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://100.100.100.200/latest/",
  "http://[fd00:ec2::254]/latest/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://[::ffff:a9fe:a9fe]/",
  "http://[::127.0.0.1]:PORT/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b:1::a00:1]/",
  "http://[2002:7f00:1::1]/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:7f00:1::1]/",
  "http://2130706433:PORT/",
  "http://017700000001:PORT/",
  "http://0177.0.0.1:PORT/",
  "http://0x7f000001:PORT/",
  "http://0x7f.0x0.0x0.0x1:PORT/",
  "http://127.1:PORT/",
  "http://0:PORT/",
  "http://0x7f.1:PORT/",
  "http://[::]:PORT/",
  "http://%6c%6f%63%61%6c%68%6f%73%74:PORT/",
  "http://user:password@127.0.0.1:PORT/",
  "http://127.0.0.1:PORT\\@example.com/",
  "http://%31%32%37.0.0.1:PORT/",
  "http://１２７。0。0。1:PORT/",
  "file:///etc/passwd",
  "FILE:/etc/passwd",
  "file://127.0.0.1/etc/passwd",
  "ftp://8.8.8.8/x",
  "blob:http://127.0.0.1:PORT/x",
  "gopher://127.0.0.1:70/x",
  "javascript:alert(1)",
];

describe("copyMedia with hostile URLs", () => {
  const folder = useFolder();
  let server: Server;
  let port: string;
  let reached: string[];
  let respond: (response: ServerResponse, request: IncomingMessage) => void;
  let deps: CopyDeps;
  const strict = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: false });
  // The policy allows this one name of the server, and nothing else on this machine.
  const lenient = createOutboundAgent({ allowedHosts: new Set(["127.0.0.9"]), allowLoopback: false });

  before(async () => {
    server = createServer((request, response) => {
      reached.push(request.url ?? "");
      respond(response, request);
    });
    await new Promise<void>((resolve) => server.listen(0, resolve));
    port = (server.address() as AddressInfo).port.toString();
  });
  after(async () => {
    await Promise.all([strict.destroy(), lenient.destroy()]);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  beforeEach(() => {
    reached = [];
    respond = (response) => response.end("inside");
    deps = {
      blocks: new BlockFiles(folder.path),
      agent: strict,
      gateway: null,
      maxBytes: LIMIT,
      deadline: PATIENCE,
    };
  });

  /** The error code that a request would get. @throws when the refusal takes longer than the limit. */
  const codeOf = async (url: string, milliseconds: number): Promise<string> => {
    const started = performance.now();
    const error: unknown = await copyMedia(
      deps,
      { url: url.replace("PORT", port), use: "any" },
      new AbortController().signal,
    ).then(
      () => "copied",
      (thrown: unknown) => thrown,
    );
    expect(performance.now() - started).to.be.lessThan(milliseconds);
    return error instanceof MediaError ? error.errorCode : String(error);
  };

  for (const url of BLOCKED) {
    it(`refuses ${url}, also as the target of a redirect`, async () => {
      expect(await codeOf(url, AT_ONCE)).to.equal("media_blocked");
      expect(reached).to.deep.equal([]);
      deps = { ...deps, agent: lenient };
      const target = url.replace("PORT", port);
      // A header is ASCII.
      const location = /[^ -~]/.test(target) ? encodeURI(target) : target;
      respond = (response) => response.writeHead(302, { location }).end();
      expect(await codeOf("http://127.0.0.9:PORT/start", AT_ONCE)).to.equal("media_blocked");
      expect(reached).to.deep.equal(["/start"]);
    });
  }

  for (const [words, code, hostile] of [
    ["redirects in a circle", "media_unavailable", (response) => response.writeHead(302, { location: "/" }).end()],
    ["never answers", "media_unavailable", () => undefined],
    [
      "drips",
      "media_unavailable",
      (response) => {
        const timer = setInterval(() => response.write("x"), 10);
        response.on("close", () => clearInterval(timer));
      },
    ],
    [
      "sends without end",
      "media_too_large",
      (response) => {
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on("drain", more);
        more();
      },
    ],
    [
      "sends a bomb",
      "media_too_large",
      (response) => response.writeHead(200, { "content-encoding": "gzip" }).end(BOMB),
    ],
    [
      "announces too much",
      "media_too_large",
      (response) => response.writeHead(200, { "content-length": LIMIT + 1 }).flushHeaders(),
    ],
    [
      "sends less than it announces",
      "media_unavailable",
      (response) => {
        response.writeHead(200, { "content-length": 100 });
        response.write("short", () => response.destroy());
      },
    ],
    [
      "announces a length that is none",
      "media_unavailable",
      (response) => response.socket?.end("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\ncat"),
    ],
    [
      "announces two lengths",
      "media_unavailable",
      (response) => response.socket?.end("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\ncats"),
    ],
    [
      "sends headers without end",
      "media_unavailable",
      (response) => {
        const more = () => {
          while (response.socket?.destroyed === false && response.socket.write("X-Header: x\r\n".repeat(1_000)));
        };
        response.socket?.on("error", () => undefined).on("drain", more);
        response.socket?.write("HTTP/1.1 200 OK\r\n");
        more();
      },
    ],
  ] as [string, string, typeof respond][]) {
    it(`refuses a server that ${words}`, async () => {
      const deadline = code === "media_unavailable" ? DEADLINE : PATIENCE;
      deps = { ...deps, agent: lenient, deadline };
      respond = hostile;
      expect(await codeOf("http://127.0.0.9:PORT/", deadline + AT_ONCE)).to.equal(code);
    });
  }
});
