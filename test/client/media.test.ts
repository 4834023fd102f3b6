import { openAsBlob } from "node:fs";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

import { expect } from "chai";

import { type Client, createClient, type ClientOptions } from "../../client/client.ts";
import { ApiRefusal, ConnectionFailed } from "../../client/errors.ts";
import type { MediaBody } from "../../client/media.ts";
import { useApi } from "../api/support/use-api.ts";
import { useFolder } from "../support/use-folder.ts";
import { rejectionOf } from "../support/rejection.ts";
import { listenOnLoopback } from "../../scripts/scene/loopback.ts";
import { PNG } from "../support/pictures.ts";

describe("uploadMedia", () => {
  const api = useApi({ per: "block" });
  const folder = useFolder();

  const clientWith = (options: Partial<ClientOptions> = {}): Client =>
    createClient({ baseUrl: api.baseUrl, token: api.app.token, ...options });
  const stream = () => new Blob([PNG]).stream() as ReadableStream<Uint8Array>;

  it("stores a file from bytes, from a Blob, from a file on the disk and from a stream", async () => {
    await writeFile(join(folder.path, "pixel.png"), PNG);
    const bodies: MediaBody[] = [
      PNG,
      new Uint8Array(PNG).buffer,
      new Blob([PNG], { type: "image/png" }),
      await openAsBlob(join(folder.path, "pixel.png")),
      stream(),
    ];
    const found = await Promise.all(bodies.map((body) => clientWith().uploadMedia(body)));
    expect(found[0]).to.include({ type: "image/png", bytes: PNG.length, uri: `ipfs://${found[0]!.cid}` });
    for (const one of found) expect(one).to.deep.equal(found[0]);
    const served = await fetch(`${api.baseUrl}/ipfs/${found[0]!.cid}`);
    expect(Buffer.from(await served.arrayBuffer())).to.deep.equal(PNG);
  });

  it("sends the type of the Blob, or the type in the options", async () => {
    const wrong = { status: 422, errorCode: "validation_failed" };
    for (const [body, options] of [
      [new Blob([PNG], { type: "video/mp4" }), {}],
      [PNG, { type: "video/mp4" }],
    ] as const) {
      const refusal = await rejectionOf(clientWith().uploadMedia(body, options));
      expect(refusal).to.be.instanceOf(ApiRefusal).and.to.include(wrong);
    }
  });

  it("repeats an upload whose answer is lost, but not a stream", async () => {
    let calls = 0;
    const losing = clientWith({
      fetch: async (request) => {
        const response = await fetch(request);
        if (calls++ === 0) throw new TypeError("The connection was closed.");
        return response;
      },
    });
    expect((await losing.uploadMedia(PNG)).bytes).to.equal(PNG.length);
    expect(calls).to.equal(2);
    calls = 0;
    const failure = await rejectionOf(losing.uploadMedia(stream()));
    expect(failure).to.be.instanceOf(ConnectionFailed);
    expect(calls).to.equal(1);
  });

  it("ends a try that takes too long, stops when it is aborted, and reports the error of a proxy", async () => {
    const server = createServer((request, response) => {
      if (request.headers["content-type"] === "text/html") response.writeHead(413).end("<html>too large</html>");
    });
    const proxy = await listenOnLoopback(server);
    const proxied = clientWith({ baseUrl: proxy.url, maxRetries: 0 });
    try {
      const late = await rejectionOf(proxied.uploadMedia(PNG, { timeout: 50 }));
      expect(late).to.be.instanceOf(ConnectionFailed);
      const abort = AbortSignal.abort(new Error("enough"));
      const stopped = await rejectionOf(proxied.uploadMedia(PNG, { signal: abort }));
      expect(stopped).to.be.an("error").with.property("message", "enough");
      const refusal = await rejectionOf(proxied.uploadMedia(PNG, { type: "text/html" }));
      expect(refusal).to.be.instanceOf(ApiRefusal).and.to.include({ status: 413, body: null });
    } finally {
      await proxy.stop();
    }
  });
});
