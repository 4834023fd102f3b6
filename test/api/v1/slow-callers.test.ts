import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { connect, type Socket } from "node:net";

import { expect } from "chai";
import express from "express";

import type { AnswerPace, Limits } from "../../../api/config/limits.ts";
import { errorHandler } from "../../../api/v1/errors.ts";
import { UnreadAnswers } from "../../../api/v1/held-bytes.ts";
import { eventually } from "../../support/eventually.ts";
import { HeldTimers } from "../../support/held-timers.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { type Listening, listenOnLoopback } from "../../../scripts/scene/loopback.ts";

/** Milliseconds in which a body must arrive, and in which an upload must begin to arrive. */
const BODY = 30_000;
/** Milliseconds that a caller gets for the rest of a refused body. */
const REST = 5_000;
/** Larger than all that the operating system keeps of an answer. */
const LARGE = 20_000_000;

/** A connection with what has arrived on it. */
class Caller {
  readonly socket: Socket;
  arrived = "";

  private constructor(socket: Socket) {
    this.socket = socket;
    // The service may close a connection while the caller sends.
    socket.on("error", () => undefined);
  }

  static async at(baseUrl: string, text: string, localAddress = "127.0.0.1"): Promise<Caller> {
    const caller = new Caller(connect({ port: Number(new URL(baseUrl).port), host: "127.0.0.1", localAddress }));
    caller.socket.write(text);
    await once(caller.socket, "connect");
    return caller;
  }

  /** Reads until what has arrived matches. */
  async reads(pattern: RegExp): Promise<string> {
    this.read();
    return eventually(() => Promise.resolve(pattern.test(this.arrived) ? this.arrived : undefined));
  }

  /** Reads until the connection is closed. */
  async readsAll(): Promise<string> {
    this.read();
    if (!this.socket.closed) await once(this.socket, "close");
    return this.arrived;
  }

  /** Reads until so many bytes have arrived. */
  async readsBytes(count: number): Promise<void> {
    this.read();
    await eventually(() => Promise.resolve(this.arrived.length >= count || this.socket.closed || undefined));
    expect(this.arrived.length, "bytes").to.be.at.least(count);
  }

  read(): void {
    this.socket.on("data", (chunk) => (this.arrived += chunk.toString("latin1"))).resume();
  }
}

describe("slow callers", () => {
  let callers: Caller[] = [];
  let api: TestApi | null = null;
  afterEach(async () => {
    for (const { socket } of callers) socket.destroy();
    callers = [];
    await api?.close();
    api = null;
  });

  async function call(baseUrl: string, text: string, localAddress?: string): Promise<Caller> {
    const caller = await Caller.at(baseUrl, text, localAddress);
    callers.push(caller);
    return caller;
  }

  describe("given an address with as many connections as it may have", () => {
    it("answers 503 to a further one and does not run its call, until another one is closed", async () => {
      api = await startApi({ limits: { addressConnections: 2 } });
      const body = `{"user_identifier":"a"}`;
      const head = `POST /v1/accounts HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${api.app.token}\r\nContent-Type: application/json\r\n`;
      const create = `${head}Content-Length: ${body.length.toString()}\r\n\r\n${body}`;
      const [first] = [await call(api.baseUrl, ""), await call(api.baseUrl, "")];
      const refused = await (await call(api.baseUrl, create)).readsAll();
      // The system drops the answer when the call arrives after the connection is closed.
      if (refused !== "") expect(refused).to.match(/^HTTP\/1.1 503 unavailable\r\nRetry-After: 5\r\n.*"unavailable"/s);
      // Another address is served.
      await (await call(api.baseUrl, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", "127.0.0.2")).reads(/^HTTP\/1.1 200 /);
      expect(await api.database.read.selectFrom("wallets").select("address").execute()).to.deep.equal([]);
      first.socket.end();
      await eventually(async () => {
        const caller = await call(api?.baseUrl ?? "", create);
        caller.read();
        await eventually(() => Promise.resolve(caller.arrived !== "" || caller.socket.closed || undefined));
        return caller.arrived.startsWith("HTTP/1.1 200 ") || undefined;
      });
    });

    it("closes a further one of any address when the service has as many as it may have", async () => {
      api = await startApi({ limits: { connections: 2 } });
      await call(api.baseUrl, "");
      await call(api.baseUrl, "", "127.0.0.2");
      expect(await (await call(api.baseUrl, "GET /healthz HTTP/1.1\r\n", "127.0.0.3")).readsAll()).to.equal("");
    });
  });

  describe("given answers that are not read", () => {
    let server: Server;
    let listening: Listening;
    afterEach(() => listening.stop());

    /** A server whose every answer is large. The header `App` names the app of a call. */
    async function serve(limits: Partial<Limits>, pace?: AnswerPace): Promise<string> {
      const most = Number.MAX_SAFE_INTEGER;
      const unread = new UnreadAnswers({ unreadBytes: most, callerUnreadBytes: most, ...limits }, pace);
      const app = express();
      app.use(unread.watch(), unread.limit());
      app.get("/small", (_request, response) => {
        response.send("small");
      });
      app.use((request, response) => {
        const name = request.get("app");
        if (name !== undefined) unread.addApp(response, name);
        response.end(Buffer.alloc(LARGE, "x"));
      });
      app.use(errorHandler);
      server = createServer(app);
      listening = await listenOnLoopback(server);
      return listening.url;
    }

    const large = (app: string) => `GET / HTTP/1.1\r\nHost: a\r\nApp: ${app}\r\n\r\n`;
    const small = "GET /small HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    /** Begins to read, so that the answer is known to be there, and stops. */
    const begin = async (url: string, app: string, address?: string) => {
      const caller = await call(url, large(app), address);
      const [chunk] = (await once(caller.socket, "data")) as [Buffer];
      caller.socket.pause();
      caller.arrived = chunk.toString("latin1");
      return caller;
    };

    it("answers 503 to further calls of the address until it reads", async () => {
      const url = await serve({ callerUnreadBytes: LARGE / 2 });
      const reader = await begin(url, "a");
      expect(await (await call(url, small)).readsAll()).to.match(/^HTTP\/1.1 503 .*Retry-After: 5\r\n.*"unavailable"/s);
      expect(await (await call(url, small, "127.0.0.2")).readsAll()).to.match(/^HTTP\/1.1 200 /);
      await reader.readsBytes(LARGE);
      await eventually(async () => /^HTTP\/1.1 200 /.test(await (await call(url, small)).readsAll()) || undefined);
    });

    it("answers 503 to further calls of the app, from any address", async () => {
      const url = await serve({ callerUnreadBytes: LARGE / 2 });
      await begin(url, "a");
      expect(await (await call(url, large("a"), "127.0.0.2")).reads(/unavailable/)).to.match(/^HTTP\/1.1 503 /);
      expect(await (await call(url, large("b"), "127.0.0.3")).reads(/x/)).to.match(/^HTTP\/1.1 200 /);
    });

    it("closes the connections of the app that have waited longest when answers were in the making", async () => {
      const url = await serve({ callerUnreadBytes: LARGE * 1.5 });
      const first = await begin(url, "a");
      const second = await begin(url, "a", "127.0.0.2");
      const other = await begin(url, "b", "127.0.0.3");
      expect((await first.readsAll()).length).to.be.below(LARGE);
      for (const reader of [second, other]) await reader.readsBytes(LARGE);
    });

    it("closes the connections that have waited longest of all when all callers hold too much", async () => {
      const url = await serve({ unreadBytes: LARGE * 1.5 });
      const first = await begin(url, "a");
      const second = await begin(url, "b", "127.0.0.2");
      expect((await first.readsAll()).length).to.be.below(LARGE);
      await second.readsBytes(LARGE);
    });

    it("closes a connection whose caller reads nothing for too long", async () => {
      const url = await serve({}, { stall: 0.5, bytesPerSecond: LARGE });
      const reader = await begin(url, "a");
      await eventually(async () => {
        const count = await new Promise((resolve) => server.getConnections((_error, open) => resolve(open)));
        return count === 0 || undefined;
      });
      expect((await reader.readsAll()).length).to.be.below(LARGE);
    });
  });

  describe("given bodies that are on their way", () => {
    const post = (token: string, path = "/v1/accounts", type = "application/json") =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\n`;

    it("refuses bodies of an app that would hold more than it leaves free, and accepts those of others", async () => {
      api = await startApi({ limits: { openBodyBytes: 3_000 } });
      const first = await call(api.baseUrl, post(api.app.token));
      await call(api.baseUrl, post(api.app.token));
      const refusal = await eventually(async () => {
        const answer = await api?.post("/v1/accounts", { user_identifier: "x".repeat(200), ignored: "x".repeat(780) });
        return answer?.status === 503 ? answer : undefined;
      });
      expect(refusal.body).to.include({ error_code: "unavailable" });
      expect(refusal.headers.get("retry-after")).to.equal("1");
      expect((await api.post("/v1/accounts", {}, { token: api.other.token })).status).to.equal(200);
      first.socket.destroy();
      await eventually(async () => {
        const answer = await api?.post("/v1/accounts", { user_identifier: "x".repeat(900) });
        return answer?.status === 422 || undefined;
      });
    });

    it("counts the body of a call that goes on after its caller has closed the connection", async () => {
      api = await startApi({ limits: { openBodyBytes: 3_000 } });
      const { database, app, log } = api;
      const [begun, opened] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
      const hold = () => {
        begun.resolve(null);
        return opened.promise;
      };
      // PostgreSQL: as many as run at the same time.
      const held = Promise.all([database.writeGroup(hold), database.writeGroup(hold)]);
      await begun.promise;
      for (const user of ["a", "b"]) {
        const caller = await call(
          api.baseUrl,
          post(app.token) + JSON.stringify({ user_identifier: user }).padEnd(1_000),
        );
        caller.socket.end();
      }
      await eventually(() => Promise.resolve(log.join("").split("request aborted").length > 2 || undefined));
      expect((await api.post("/v1/accounts", { user_identifier: "x".repeat(900) })).status).to.equal(503);
      opened.resolve(null);
      await held;
      await eventually(async () => {
        const answer = await api?.post("/v1/accounts", { user_identifier: "x".repeat(900) });
        return answer?.status === 422 || undefined;
      });
    });

    for (const [title, path, type] of [
      ["JSON", "/v1/accounts", "application/json"],
      ["a file", "/v1/media", "image/png"],
    ] as const) {
      it(`answers 408 to ${title} that stops arriving, and closes the connection`, async () => {
        api = await startApi();
        const timers = new HeldTimers(BODY);
        let caller: Caller;
        try {
          caller = await call(api.baseUrl, post(api.app.token, path, type));
          await timers.ring();
        } finally {
          timers.release();
        }
        expect(await caller.readsAll()).to.match(/^HTTP\/1.1 408 .*"request_timeout"/s);
      });
    }

    it("closes the connection of a body that no route reads soon after the answer", async () => {
      api = await startApi();
      const timers = new HeldTimers(REST);
      try {
        const caller = await call(api.baseUrl, "POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{");
        await caller.reads(/not_found/);
        await timers.ring();
        await caller.readsAll();
      } finally {
        timers.release();
      }
    });
  });
});
