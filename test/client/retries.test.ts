import { createServer } from "node:http";

import { expect } from "chai";

import { answerOf, createClient, type ClientOptions } from "../../client/client.ts";
import { ApiRefusal, ConnectionFailed, RequestTimeout } from "../../client/errors.ts";
import { eventually } from "../support/eventually.ts";
import { HeldTimers } from "../support/held-timers.ts";
import { useApi } from "../api/support/use-api.ts";
import { addCollection } from "../api/support/api-rows.ts";
import { rejectionOf } from "../support/rejection.ts";
import { type Listening, listenOnLoopback } from "../../scripts/scene/loopback.ts";

/** What the server does with one try: an answer, a broken connection, half of an answer, or nothing. */
type Turn = { status: number; retryAfter?: string } | "break" | "half" | "hang";

interface Try {
  method: string;
  key: string | undefined;
  body: string;
}

describe("retries of the client", () => {
  describe("given a server that fails", () => {
    let server: Listening;
    let turns: Turn[];
    let tries: Try[];
    before(async () => {
      const failing = createServer((request, response) => {
        let body = "";
        request.setEncoding("utf8").on("data", (part: string) => (body += part));
        request.on("end", () => {
          tries.push({ method: request.method!, key: request.headers["idempotency-key"] as string | undefined, body });
          const turn = turns.shift() ?? { status: 200 };
          if (turn === "break") request.socket.destroy();
          if (turn === "half") response.writeHead(200, { "content-type": "application/json" }).write('{"address":');
          if (turn === "half") setImmediate(() => request.socket.destroy());
          if (typeof turn === "string") return;
          const retry = turn.retryAfter === undefined ? {} : { "retry-after": turn.retryAfter };
          response.writeHead(turn.status, { "content-type": "application/json", ...retry });
          response.end(turn.status === 200 ? '{"address":"0x1"}' : '{"error_code":"x","message":"m","errors":null}');
        });
      });
      server = await listenOnLoopback(failing);
    });
    beforeEach(() => {
      tries = [];
    });
    after(() => server.stop());

    const clientWith = (options: Partial<ClientOptions> = {}) =>
      createClient({ baseUrl: server.url, token: "t", ...options });
    const soon = (status: number) => ({ status, retryAfter: "0" });

    for (const turn of ["break", "half", soon(429), soon(502), soon(503), soon(504)] as const) {
      const name = typeof turn === "string" ? turn : turn.status;
      it(`repeats a call that creates something, with the same key and body (${name})`, async () => {
        turns = [turn, turn];
        const body = { user_identifier: "ü" };
        expect(await answerOf(clientWith().POST("/v1/accounts", { body }))).to.deep.equal({ address: "0x1" });
        expect(tries).to.have.length(3);
        expect(tries[0]!.key).to.match(/^[0-9a-f]{32}$/);
        for (const one of tries)
          expect(one).to.deep.equal({ method: "POST", key: tries[0]!.key, body: '{"user_identifier":"ü"}' });
      });
    }

    it("gives each call a key of its own, and keeps the caller's", async () => {
      turns = [];
      const client = clientWith();
      await client.POST("/v1/transfers", { body: {} as never });
      await client.POST("/v1/transfers", { body: {} as never });
      await client.POST("/v1/accounts", { body: {}, params: { header: { "Idempotency-Key": "mine" } } });
      expect(tries[0]!.key).to.not.equal(tries[1]!.key);
      expect(tries[2]!.key).to.equal("mine");
    });

    it("answers with the last refusal, and throws ConnectionFailed after the last broken connection", async () => {
      turns = [soon(503), soon(503), soon(503)];
      const refusal = await rejectionOf(answerOf(clientWith().GET("/v1/webhook")));
      expect(refusal).to.be.instanceOf(ApiRefusal).and.to.include({ status: 503, errorCode: "x" });
      turns = ["break", "break", "break"];
      const failure = await rejectionOf(clientWith().GET("/v1/webhook"));
      expect(failure).to.be.instanceOf(ConnectionFailed);
      expect(failure.message).to.match(/^No answer from the service after 3 tries: /);
      expect(tries).to.have.length(6);
    });

    it("repeats a call without a key only after 429", async () => {
      const test = () => clientWith().POST("/v1/webhook/test");
      turns = [soon(503)];
      expect((await test()).response.status).to.equal(503);
      turns = ["break"];
      expect(await rejectionOf(test())).to.be.instanceOf(ConnectionFailed);
      turns = [soon(429)];
      expect((await test()).response.status).to.equal(200);
      expect(tries.map(({ key }) => key)).to.deep.equal([undefined, undefined, undefined, undefined]);
    });

    it("does not repeat PUT and DELETE after a broken connection", async () => {
      turns = ["break", "break"];
      const put = clientWith().PUT("/v1/webhook", { body: { url: "https://example.com" } });
      expect(await rejectionOf(put)).to.be.instanceOf(ConnectionFailed);
      const removal = clientWith().DELETE("/v1/webhook");
      expect(await rejectionOf(removal)).to.be.instanceOf(ConnectionFailed);
      expect(tries).to.have.length(2);
    });

    it("repeats nothing and adds no key with maxRetries 0", async () => {
      turns = [soon(429)];
      expect((await clientWith({ maxRetries: 0 }).POST("/v1/accounts", { body: {} })).response.status).to.equal(429);
      expect(tries).to.deep.equal([{ method: "POST", key: undefined, body: "{}" }]);
    });

    it("does not wait longer than a minute", async () => {
      turns = [{ status: 429, retryAfter: "61" }];
      expect((await clientWith().GET("/v1/webhook")).response.status).to.equal(429);
      expect(tries).to.have.length(1);
    });

    it("understands a Retry-After with a date", async () => {
      turns = [{ status: 503, retryAfter: new Date(Date.now() - 1_000).toUTCString() }];
      expect((await clientWith().GET("/v1/webhook")).response.status).to.equal(200);
    });

    it("ends a try that takes too long, and repeats it", async () => {
      turns = ["hang", "half"];
      const timers = new HeldTimers(2_000);
      try {
        const call = clientWith({ timeout: 2_000 }).GET("/v1/webhook");
        await eventually(() => Promise.resolve(tries.length > 0 ? true : undefined));
        await timers.ring();
        expect((await call).response.status).to.equal(200);
      } finally {
        timers.release();
      }
      turns = ["hang"];
      const failure = await rejectionOf(clientWith({ timeout: 50, maxRetries: 0 }).GET("/v1/webhook"));
      expect(failure.message).to.equal("No answer from the service after one try: No answer within 50 ms.");
    });

    it("stops when it is aborted, also while it waits", async () => {
      turns = [{ status: 503, retryAfter: "30" }];
      const abort = new AbortController();
      const call = clientWith({
        signal: abort.signal,
        fetch: async (request) => {
          const response = await fetch(request);
          setImmediate(() => abort.abort(new Error("enough")));
          return response;
        },
      }).GET("/v1/webhook");
      expect(await rejectionOf(call))
        .to.be.an("error")
        .with.property("message", "enough");
      expect(tries).to.have.length(1);
    });

    it("waitFor counts broken connections in a row, and busy answers not among them", async () => {
      turns = [soon(502), "break", soon(503), "break", { status: 404 }];
      const failure = await rejectionOf(clientWith({ maxRetries: 1 }).waitFor("1", { timeout: 60_000, interval: 10 }));
      expect(failure).to.be.instanceOf(ApiRefusal).with.property("status", 404);
      expect(tries).to.have.length(5);
    });

    it("waitFor keeps its interval when a busy answer asks for no wait", async () => {
      turns = Array.from({ length: 50 }, () => soon(503));
      const started = performance.now();
      const error = await rejectionOf(clientWith().waitFor("1", { timeout: 500, interval: 100 }));
      expect(error).to.be.instanceOf(RequestTimeout);
      // It has not given up at the first answer.
      expect(performance.now() - started).to.be.at.least(400);
      expect(tries.length).to.be.within(1, 6);
      turns = [];
    });
  });

  describe("given a service whose answer is lost", () => {
    const api = useApi({ per: "block" });

    it("accepts the request once", async () => {
      const contract = await addCollection(api);
      const tokens = { baseUrl: api.baseUrl, token: api.app.token };
      const { address } = await answerOf(createClient(tokens).POST("/v1/accounts", { body: {} }));
      const answers: Response[] = [];
      const client = createClient({
        ...tokens,
        fetch: async (request) => {
          const response = await fetch(request);
          answers.push(response.clone());
          if (answers.length < 3) throw new TypeError("The connection was closed.");
          return response;
        },
      });
      const body = { collection_address: contract, to_address: address };
      const { request_id } = await answerOf(client.POST("/v1/nfts", { body }));
      const ids = await Promise.all(answers.map(async (answer) => (await answer.json()) as object));
      expect(ids).to.deep.equal([{ request_id }, { request_id }, { request_id }]);
      const query = { type: "mint" } as const;
      expect((await answerOf(client.GET("/v1/requests", { params: { query } }))).total).to.equal(1);
    });
  });
});
