import { once } from "node:events";
import { connect, type Socket } from "node:net";

import { expect } from "chai";
import express from "express";

import { MAX_PAGE_BYTES, READS_AT_ONCE } from "../../../api/config/limits.ts";
import { errorHandler } from "../../../api/v1/errors.ts";
import { HeldBytes } from "../../../api/v1/held-bytes.ts";
import { createHttpServer } from "../../../api/v1/server.ts";
import { eventually } from "../../support/eventually.ts";
import { HeldTimers } from "../../support/held-timers.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { addCollection, addMint, addWallet, confirmUpTo } from "../support/api-rows.ts";
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
    let listening: Listening;
    afterEach(() => listening.stop());

    /** A server whose answers are large, except to `POST`. The header `App` names the app of a call. */
    async function serve(most: number, idle = 0): Promise<string> {
      const bytes = new HeldBytes(most);
      const app = express();
      app.use((request, response) => {
        const caller = { appId: request.get("app") ?? null };
        bytes.end(response, caller, Buffer.alloc(request.method === "GET" ? LARGE : 5, "x"));
      });
      app.use(errorHandler);
      const server = createHttpServer(app);
      server.timeout = idle;
      listening = await listenOnLoopback(server);
      return listening.url;
    }

    const large = (app: string) => `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${app}\r\n`;
    /** Begins to read, so that the answer is known to be there, and stops. */
    const begin = async (url: string, app: string, address?: string) => {
      const caller = await call(url, large(app), address);
      const [chunk] = (await once(caller.socket, "data")) as [Buffer];
      caller.socket.pause();
      caller.arrived = chunk.toString("latin1");
      return caller;
    };
    const refused = /^HTTP\/1.1 503 .*Retry-After: 1\r\n.*"unavailable"/s;

    for (const [whose, same, other] of [
      ["app, from any address,", ["App: a\r\n", "127.0.0.2"], ["App: b\r\n", "127.0.0.1"]],
      ["address without a token", ["", "127.0.0.1"], ["", "127.0.0.2"]],
    ] as const) {
      it(`answers 503 to further calls of the ${whose} until it reads, and 200 to others`, async () => {
        const url = await serve(LARGE);
        const reader = await begin(url, same[0]);
        expect(await (await call(url, large(same[0]), same[1])).readsAll()).to.match(refused);
        const answer = await (await call(url, large(other[0]), other[1])).readsAll();
        expect(answer).to.match(/^HTTP\/1.1 200 /);
        await reader.readsBytes(LARGE);
        await eventually(async () => {
          const again = await (await call(url, large(same[0]), same[1])).readsAll();
          return again.startsWith("HTTP/1.1 200 ") || undefined;
        });
      });
    }

    it("takes the bytes back when the connection is closed, also those of answers that wait behind another on it", async () => {
      const url = await serve(LARGE * 4);
      const reader = await begin(url, "App: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\nApp: a\r\n");
      reader.socket.destroy();
      for (let times = 0; times < 3; times++)
        await eventually(async () => {
          const answer = await (await call(url, large("App: a\r\n"))).readsAll();
          return answer.startsWith("HTTP/1.1 200 ") || undefined;
        });
    });

    it("always sends the answer to a call that writes", async () => {
      const url = await serve(LARGE);
      await begin(url, "App: a\r\n");
      const post = "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nApp: a\r\nContent-Length: 0\r\n\r\n";
      expect(await (await call(url, post)).readsAll()).to.match(/^HTTP\/1.1 200 .*xxxxx$/s);
    });

    it("closes a connection whose caller reads nothing for too long", async () => {
      const url = await serve(LARGE, 500);
      const reader = await begin(url, "");
      await eventually(
        async () => (await (await call(url, large(""))).readsAll()).startsWith("HTTP/1.1 200 ") || undefined,
      );
      expect((await reader.readsAll()).length).to.be.below(LARGE);
    });
  });

  describe("given many calls of an app that reads none of the answers", () => {
    it("makes no page for those that waited while earlier answers were not read", async () => {
      api = await startApi({ limits: { callBytes: MAX_PAGE_BYTES } });
      const [to, contract] = [await addWallet(api), await addCollection(api)];
      // More than the operating system takes of an answer that is not read.
      const metadata = { description: "a".repeat(6_000_000) };
      await addMint(api, { contract, to, metadata, unlockable: "Only the holder reads this." });
      await confirmUpTo(api, 10);
      let pages = 0;
      const { sealer } = api;
      const open = sealer.open.bind(sealer);
      sealer.open = (...sealed) => {
        pages += 1;
        return open(...sealed);
      };
      const token = api.app.token;
      const get = `GET /v1/accounts/${to} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`;
      for (let calls = 0; calls < 3 * READS_AT_ONCE.ofApp; calls++) await call(api.baseUrl, "");
      for (const { socket } of callers) socket.write(`${get}\r\n`);
      await eventually(() => Promise.resolve(pages > 0 || undefined));
      // It waits behind all others.
      const last = await call(api.baseUrl, `${get}Connection: close\r\n\r\n`);
      expect(await last.readsAll()).to.match(/^HTTP\/1.1 503 .*are not read/s);
      expect(pages).to.be.at.most(READS_AT_ONCE.ofApp);
    });
  });

  describe("given bodies that are on their way", () => {
    const post = (token: string, path = "/v1/accounts", type = "application/json") =>
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${type}\r\nContent-Length: 1000\r\n\r\n`;

    it("refuses bodies of an app that would hold more than it leaves free, and accepts those of others", async () => {
      api = await startApi({ limits: { callBytes: 3_000 } });
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
      api = await startApi({ limits: { callBytes: 3_000 } });
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
