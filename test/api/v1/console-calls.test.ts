import { expect } from "chai";

import { revokeConsoleSession } from "../../../api/store/apps/console-sessions.ts";
import { EventReader } from "../../support/event-reader.ts";
import { PUBLIC_URL, type TestApi, startApi } from "../support/api.ts";
import { PAGE, startSession, type TestSession } from "../support/console.ts";
import { expectRefusal } from "../support/expect.ts";

const SESSION = "/v1/console/session";

describe("calls with a console session", () => {
  let api: TestApi;
  let readers: EventReader[];
  beforeEach(async () => {
    readers = [];
    api = await startApi({ streamTimes: { checkTokens: 0, poll: 20 } });
  });
  afterEach(async () => {
    for (const reader of readers) reader.close();
    await api.close();
  });

  const revoke = ({ id }: TestSession) => api.database.write((trx) => revokeConsoleSession(trx, id, Date.now()));
  const row = ({ id }: TestSession) =>
    api.database.read.selectFrom("console_sessions").selectAll().where("id", "=", id).executeTakeFirstOrThrow();
  const change = ({ id }: TestSession, values: { expires_at?: number; used_at?: number }) =>
    api.database.write((trx) => trx.updateTable("console_sessions").set(values).where("id", "=", id).execute());
  const bare = (method: string, path: string, headers: Record<string, string>) =>
    api.call(method, path, { token: null, headers, ...(method === "POST" ? { body: {} } : {}) });

  it("take an Idempotency-Key, also one that the app's token has used", async () => {
    const session = await startSession(api);
    const headers = { "idempotency-key": "once" };
    const first = await session.call("POST", "/v1/accounts", { body: {}, headers });
    for (const again of [
      await session.call("POST", "/v1/accounts", { body: {}, headers }),
      await api.post("/v1/accounts", {}, { headers }),
    ]) {
      expect(again.text).to.equal(first.text);
    }
  });

  it("need the session's scopes", async () => {
    const session = await startSession(api, { scopes: ["read"] });
    expect((await session.call("GET", "/v1/accounts")).status).to.equal(200);
    const answer = await session.call("POST", "/v1/accounts", { body: {} });
    expectRefusal(answer, 403, "forbidden");
    expect(answer.text).to.contain("The session lacks the scope `accounts`");
  });

  describe("given a page of another site", () => {
    it("are refused without the console's header, also reads", async () => {
      const { cookie } = await startSession(api);
      for (const headers of [{ cookie }, { cookie, origin: PUBLIC_URL, "x-moneta-console": "yes" }]) {
        for (const method of ["GET", "POST"]) {
          const answer = await bare(method, "/v1/accounts", headers);
          expectRefusal(answer, 403, "forbidden");
          expect(answer.text).to.contain("X-Moneta-Console");
          expect(answer.headers.get("access-control-allow-origin")).to.equal(null);
        }
      }
    });

    it("are refused with a foreign Origin, and writes without any", async () => {
      const { cookie } = await startSession(api);
      const page = { cookie, "x-moneta-console": "1" };
      const foreign = [
        "https://evil.example",
        "null",
        "http://nft.example",
        "https://nft.example.evil.example",
        "https://nft.example:444",
      ];
      for (const origin of foreign) {
        for (const method of ["GET", "POST"]) {
          expectRefusal(await bare(method, "/v1/accounts", { ...page, origin }), 403, "forbidden");
        }
      }
      expectRefusal(await bare("POST", "/v1/accounts", page), 403, "forbidden");
      expect((await bare("GET", "/v1/accounts", page)).status).to.equal(200);
      expect((await api.get("/v1/accounts")).body.total).to.equal(0);
    });

    it("do not use up the session's rate limit", async () => {
      await api.close();
      api = await startApi({ limits: { ratePerMinute: 3 } });
      const session = await startSession(api);
      for (let call = 0; call < 5; call++) await bare("GET", "/v1/accounts", { cookie: session.cookie });
      expect((await session.call("GET", "/v1/accounts")).headers.get("ratelimit")).to.match(/^"app";r=1;/);
      expect((await session.call("GET", "/v1/accounts")).status).to.equal(200);
      expectRefusal(await session.call("GET", "/v1/accounts"), 429, "rate_limited");
    });
  });

  it("are accepted from a page of the host itself, when it is this machine", async () => {
    const { cookie } = await startSession(api);
    const { host, origin } = new URL(api.baseUrl);
    expect(host).to.match(/^127\.0\.0\.1:/);
    const page = { cookie, "x-moneta-console": "1" };
    expect((await bare("POST", "/v1/accounts", { ...page, origin })).status).to.equal(200);
    const localhost = origin.replace("127.0.0.1", "localhost");
    expectRefusal(await bare("POST", "/v1/accounts", { ...page, origin: localhost }), 403, "forbidden");
  });

  it("ignore the cookie when they have an Authorization header", async () => {
    const { headers } = await startSession(api);
    const path = "/v1/accounts";
    for (const authorization of ["", "Bearer nonsense"]) {
      expectRefusal(await bare("GET", path, { ...headers, authorization }), 401, "unauthorized");
    }
    expectRefusal(await api.get(SESSION, { headers }), 403, "forbidden");
    expect((await api.get(path, { headers: { cookie: headers["cookie"] ?? "" } })).status).to.equal(200);
  });

  it("are refused with an unknown, doubled or malformed cookie", async () => {
    const { cookie } = await startSession(api);
    const [name = "", secret = ""] = cookie.split("=");
    const wrong = [
      `${name}=${"x".repeat(43)}`,
      `${name}=`,
      `${name}=${secret}x`,
      `other=${secret}`,
      `${cookie}; ${cookie}`,
    ];
    for (const one of wrong) {
      expectRefusal(await bare("GET", "/v1/accounts", { ...PAGE, cookie: one }), 401, "unauthorized");
    }
    expect((await bare("GET", "/v1/accounts", { ...PAGE, cookie: `a=b; ${cookie} ; c=d` })).status).to.equal(200);
  });

  it("stop at once when the session is revoked or has expired", async () => {
    const [revoked, expired] = [await startSession(api), await startSession(api)];
    await revoke(revoked);
    await change(expired, { expires_at: Date.now() - 1 });
    for (const session of [revoked, expired]) {
      expectRefusal(await session.call("GET", "/v1/accounts"), 401, "unauthorized");
    }
  });

  it("count as calls of a stranger when the session does not exist", async () => {
    await api.close();
    api = await startApi({ limits: { ratePerMinute: 2 } });
    const guess = () => bare("GET", "/v1/accounts", { ...PAGE, cookie: `__Host-moneta_console=${"x".repeat(43)}` });
    expect([await guess(), await guess(), await guess()].map(({ status }) => status)).to.deep.equal([401, 401, 429]);
  });

  it("store when the session was used, but not at each call", async () => {
    const session = await startSession(api);
    const { used_at: first } = await row(session);
    await session.call("GET", "/v1/accounts");
    expect((await row(session)).used_at).to.equal(first);
    const old = Date.now() - 600_000;
    await change(session, { used_at: old });
    await session.call("GET", "/v1/accounts");
    expect((await row(session)).used_at).to.be.above(old);
  });

  describe("given the operator's session", () => {
    it("name an app in X-Moneta-App", async () => {
      const session = await startSession(api, { appId: null });
      for (const [app, user] of [
        [api.app.id, "alice"],
        [api.other.id, "bob"],
      ] as const) {
        const headers = { "x-moneta-app": app };
        const body = { user_identifier: user };
        expect((await session.call("POST", "/v1/accounts", { body, headers })).status).to.equal(200);
        const { wallets } = (await session.call("GET", "/v1/accounts", { headers })).body;
        expect(wallets?.map(({ user_identifier }) => user_identifier)).to.deep.equal([user]);
      }
    });

    it("are refused without an app, with an unknown one, and with a name instead of an id", async () => {
      const session = await startSession(api, { appId: null });
      for (const [headers, code] of [
        [{}, "required"],
        [{ "x-moneta-app": "no-such-app" }, "unknown"],
        [{ "x-moneta-app": "first" }, "unknown"],
      ] as const) {
        const answer = await session.call("GET", "/v1/accounts", { headers: { ...headers } });
        expectRefusal(answer, 422, "validation_failed");
        expect(answer.text).to.contain(`"field":"X-Moneta-App","code":"${code}"`);
      }
    });

    it("end when the app is removed", async () => {
      const session = await startSession(api, { appId: null });
      const headers = { ...session.headers, "x-moneta-app": api.other.id };
      const reader = await EventReader.open(`${api.baseUrl}/v1/events`, null, headers);
      readers.push(reader);
      await api.database.write((trx) => trx.deleteFrom("api_tokens").where("app_id", "=", api.other.id).execute());
      await api.database.write((trx) => trx.deleteFrom("apps").where("id", "=", api.other.id).execute());
      expect(await reader.ended).to.equal(true);
    });
  });

  it("keep an event stream open until the session is revoked", async () => {
    const [session, other] = [await startSession(api), await startSession(api)];
    const open = async ({ headers }: TestSession) => {
      const reader = await EventReader.open(`${api.baseUrl}/v1/events`, null, headers);
      readers.push(reader);
      return reader;
    };
    const [ends, stays] = [await open(session), await open(other)];
    await revoke(session);
    expect(await ends.ended).to.equal(true);
    expect(ends.comments).to.deep.equal(["the token or session is not valid any more"]);
    expect(stays.comments).to.deep.equal([]);
    await change(other, { expires_at: Date.now() - 1 });
    expect(await stays.ended).to.equal(true);
  });
});
