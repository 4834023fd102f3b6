import { readFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders } from "node:http";

import { expect } from "chai";

import { answerOf, createClient } from "../../client/client.ts";
import { ApiRefusal, readErrorBody, RequestTimeout } from "../../client/errors.ts";
import { ERRORS } from "../../api/domain/error-codes.ts";
import { clientTypes } from "../../scripts/client/types.ts";
import { useApi } from "../api/support/use-api.ts";
import { addCollection, addMint } from "../api/support/api-rows.ts";
import { rejectionOf } from "../support/rejection.ts";
import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

describe("the typed client", () => {
  const api = useApi({ per: "block" });
  let client: ReturnType<typeof createClient>;
  before(() => {
    client = createClient({ baseUrl: `${api.baseUrl}/`, token: api.app.token });
  });

  const mint = async () => {
    const contract = await addCollection(api);
    const { address } = await answerOf(client.POST("/v1/accounts", { body: {} }));
    const body = { collection_address: contract, to_address: address };
    return (await answerOf(client.POST("/v1/nfts", { body }))).request_id;
  };

  it("has the types of the current document (if not, run `npm run update -- client`)", async () => {
    const committed = readFileSync(new URL("../../client/document.ts", import.meta.url), "utf8");
    expect(committed === (await clientTypes())).to.equal(true);
  });

  it("calls by path and method, and escapes parameters", async () => {
    const user = "a/b?c=ü";
    const wallet = await answerOf(client.POST("/v1/accounts", { body: { user_identifier: user } }));
    const path = { user_identifier: user };
    expect(await answerOf(client.GET("/v1/accounts/user/{user_identifier}", { params: { path } }))).to.deep.equal(
      wallet,
    );
    const page = await answerOf(client.GET("/v1/accounts", { params: { query: { limit: 1 } } }));
    expect(page.wallets).to.deep.equal([wallet]);
  });

  it("accepts and returns token ids of any length", async () => {
    const contract = await addCollection(api, { type: "ERC1155" });
    const { address } = await answerOf(client.POST("/v1/accounts", { body: {} }));
    await addMint(api, { contract, to: address, tokenId: 2n ** 255n, type: "ERC1155" });
    const path = { address: contract, token_id: (2n ** 255n).toString() };
    const nft = await answerOf(client.GET("/v1/collections/{address}/{token_id}", { params: { path } }));
    expect(nft.token_id).to.equal((2n ** 255n).toString());
  });

  it("returns an error body as `error`, or throws it as ApiRefusal", async () => {
    const path = { request_id: "none" };
    const { data, error } = await client.GET("/v1/requests/{request_id}", { params: { path } });
    expect(data).to.equal(undefined);
    const { message } = ERRORS.not_found;
    expect(error).to.deep.equal({ error_code: "not_found", message, errors: null });
    const refusal = await rejectionOf(answerOf(client.GET("/v1/requests/{request_id}", { params: { path } })));
    expect(refusal).to.be.instanceOf(ApiRefusal).and.to.include({ status: 404 });
    expect(refusal).to.have.nested.property("body.error_code", "not_found");
    expect(refusal.message).to.equal(`404 not_found: ${message}`);
  });

  it("names the wrong fields in the message of ApiRefusal", async () => {
    const wallet = { user_identifier: "." };
    const refusal = await rejectionOf(answerOf(client.POST("/v1/accounts", { body: wallet })));
    expect(refusal.message).to.equal(
      "422 validation_failed: `user_identifier`: Must not be `.` or `..`, which have a meaning of their own in URLs.",
    );
    const collection = { type: "ERC721" as const, name: "", symbol: "" };
    const two = await rejectionOf(answerOf(client.POST("/v1/collections", { body: collection })));
    expect(two.message).to.equal(
      "422 validation_failed: `name`: Must not be empty. ... and 1 more: see `errors`. symbol: Must not be empty.",
    );
  });

  it("recognizes an answer that is not the service's own", () => {
    for (const body of [undefined, null, "<html>Bad gateway</html>", { error: "bad gateway" }]) {
      expect(readErrorBody(body)).to.equal(null);
    }
    expect(new ApiRefusal(502, null).message).to.equal("HTTP status 502, without an error body of the service");
  });

  describe("waitFor", () => {
    const complete = (id: string) =>
      api.database.write((trx) =>
        trx.updateTable("requests").set({ status: "completed" }).where("id", "=", id).execute(),
      );

    it("resolves to the request when it has completed", async () => {
      const id = await mint();
      const looks: Promise<unknown>[] = [];
      // The request completes after the client has looked for the first time.
      const waiting = createClient({
        baseUrl: api.baseUrl,
        token: api.app.token,
        fetch: async (request) => {
          const response = await fetch(request);
          if (looks.length === 0) looks.push(complete(id));
          await Promise.all(looks);
          return response;
        },
      });
      expect(await waiting.waitFor(id, { interval: 1 })).to.include({ request_id: id, status: "completed" });
    });

    it("throws on a timeout, on an unknown request, and when it is aborted", async () => {
      const id = await mint();
      expect(await rejectionOf(client.waitFor(id, { timeout: 5, interval: 2 }))).to.be.instanceOf(RequestTimeout);
      expect(await rejectionOf(client.waitFor("0".repeat(64)))).to.be.instanceOf(ApiRefusal);
      expect(await rejectionOf(client.waitFor(id, { signal: AbortSignal.abort(new Error("enough")) }))).to.include({
        message: "enough",
      });
    });
  });
});

describe("the typed client without a token", () => {
  let server: Listening;
  const seen: { url: string | undefined; headers: IncomingHttpHeaders }[] = [];

  before(async () => {
    const answering = createServer((request, response) => {
      seen.push({ url: request.url, headers: request.headers });
      request.resume();
      const stream = request.url === "/v1/events";
      response.setHeader("content-type", stream ? "text/event-stream" : "application/json");
      const event = 'id: 1\ndata: {"id":"a"}\n\n';
      response.end(stream ? event : "{}");
    });
    server = await listenOnLoopback(answering);
  });
  after(() => server.stop());

  it("sends its headers with every call, event stream and upload, and no Authorization", async () => {
    const client = createClient({ baseUrl: server.url, headers: { "X-Moneta-Console": "1", "X-Moneta-App": "a1" } });
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
    const client = createClient({ baseUrl: server.url });
    const before = seen.length;
    for (const user_identifier of ["..", ".", ""]) {
      const options = { params: { path: { user_identifier } } };
      const failure = await rejectionOf(client.GET("/v1/accounts/user/{user_identifier}", options));
      expect(failure).to.be.instanceOf(TypeError);
      expect(String(failure)).to.contain("cannot be sent as `user_identifier`");
    }
    expect(seen.length).to.equal(before);
  });
});
