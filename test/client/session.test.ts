import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { expect } from "chai";

import { createClient } from "../../client/client.ts";

describe("the typed client without a token", () => {
  let server: Server;
  let baseUrl: string;
  const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];

  before(async () => {
    server = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      request.resume();
      const stream = request.url === "/v1/events";
      response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
      const event = 'id: 1\ndata: {"id":"a"}\n\n';
      response.end(stream ? event : "{}");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port.toString()}`;
  });
  after(() => server.close());

  it("sends its headers with every call, event stream and upload, and no Authorization", async () => {
    const client = createClient({ baseUrl, headers: { "X-Moneta-Console": "1", "X-Moneta-App": "a1" } });
    await client.GET("/v1/usage");
    await client.uploadMedia(new Blob(["x"], { type: "image/png" }));
    for await (const { cursor } of client.events()) {
      expect(cursor).to.equal("1");
      break;
    }
    expect(seen.map(({ url }) => url)).to.deep.equal(["/v1/usage", "/v1/media", "/v1/events"]);
    for (const { headers } of seen) {
      expect(headers)
        .to.include({ "x-moneta-console": "1", "x-moneta-app": "a1" })
        .and.not.have.property("authorization");
    }
    expect(seen[1]!.headers["content-type"]).to.equal("image/png");
    expect(seen[2]!.headers.accept).to.equal("text/event-stream");
  });

  it("sends nothing for a path that a URL would read as another one", async () => {
    const client = createClient({ baseUrl });
    const before = seen.length;
    for (const user_identifier of ["..", ".", ""]) {
      const failure: unknown = await client
        .GET("/v1/accounts/user/{user_identifier}", { params: { path: { user_identifier } } })
        .catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(TypeError);
      expect(String(failure)).to.contain("cannot be sent as `user_identifier`");
    }
    expect(seen.length).to.equal(before);
  });
});
