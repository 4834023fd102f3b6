import { connect } from "node:net";

import { expect } from "chai";

import { ERRORS, type HttpErrorCode } from "../../../api/domain/error-codes.ts";
import { createHttpServer } from "../../../api/v1/server.ts";
import { useApi } from "../support/use-api.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";

describe("broken HTTP", () => {
  const api = useApi({ per: "block" });
  const port = () => Number(new URL(api.baseUrl).port);

  for (const [title, text, status, code] of [
    ["text that is not HTTP", "NONSENSE\r\n\r\n", 400, "malformed_request"],
    ["a broken header", "GET /healthz HTTP/1.1\r\nHost: a\r\nb ad: 1\r\n\r\n", 400, "malformed_request"],
    [
      "two lengths",
      "GET /v1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
      400,
      "malformed_request",
    ],
    ["endless headers", `GET /${"x".repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 413, "payload_too_large"],
    [
      "an unknown Expect",
      "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: magic\r\nConnection: close\r\n\r\n",
      417,
      "expectation_failed",
    ],
  ] as const) {
    it(`answers ${status} ${code} to ${title}`, async () => {
      const answer = await rawCall(port(), text);
      expect(answer).to.match(new RegExp(`^HTTP/1.1 ${status.toString()} `));
      expect(bodyOf(answer)).to.deep.equal({ error_code: code, message: ERRORS[code].message, errors: null });
    });
  }

  it("answers 400 malformed_request to HTTP/1.1 without Host, inside and outside /v1", async () => {
    for (const path of ["/healthz", "/v1/accounts", "/nothing"]) {
      const answer = await rawCall(port(), `GET ${path} HTTP/1.1\r\nConnection: close\r\n\r\n`);
      expect(answer).to.match(/^HTTP\/1.1 400 .*X-Request-Id: /s);
      expect(bodyOf(answer)).to.include({ error_code: "malformed_request" });
      expect((bodyOf(answer) as { message: string }).message).to.contain("`Host`");
    }
  });

  it("accepts HTTP/1.0 without Host, and Expect: 100-continue", async () => {
    expect(await rawCall(port(), "GET /healthz HTTP/1.0\r\n\r\n")).to.match(/^HTTP\/1.1 200 /);
    const call = "GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n";
    expect(await rawCall(port(), call)).to.match(/^HTTP\/1.1 (100 Continue\r\n\r\nHTTP\/1.1 )?200 /);
  });

  it("answers a broken HEAD without a body", async () => {
    const long = `HEAD /${"x".repeat(40_000)} HTTP/1.1\r\nHost: a\r\n\r\n`;
    expect(await rawCall(port(), long)).to.match(/^HTTP\/1.1 413 [^{]*\r\n\r\n$/s);
  });

  describe("given a request that never ends", () => {
    it("answers 408 request_timeout", async () => {
      const options = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };
      const server = await listenOnLoopback(createHttpServer(() => undefined, options));
      const answer = await rawCall(server.port, "GET / HTTP/1.1\r\nHost: a\r\n");
      await server.stop();
      expect(answer).to.match(/^HTTP\/1.1 408 /);
      const code: HttpErrorCode = "request_timeout";
      expect(bodyOf(answer)).to.deep.equal({ error_code: code, message: ERRORS[code].message, errors: null });
    });
  });
});

function bodyOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
}

/** Sends raw bytes. @returns everything that arrives until the connection ends. */
function rawCall(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => (answer += chunk.toString()));
    socket.on("close", () => {
      resolve(answer);
    });
    socket.on("error", reject);
    socket.write(text);
  });
}
