import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";

import { expect } from "chai";

import { type Credential, hashOf } from "../../../api/commands/credential.ts";
import { createLookUps } from "../../../api/commands/look-ups.ts";
import { requireStillValid } from "../../../api/v1/authenticate.ts";
import { lockApp } from "../../../api/store/apps/apps.ts";
import { revokeConsoleSession } from "../../../api/store/apps/console-sessions.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import type { Answer } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { startSession, type TestSession } from "../support/console.ts";

const COLLECTION = { type: "ERC721", name: "Cats", symbol: "CAT" };

describe("a token or session that is revoked", () => {
  const api = useApi();
  let session: TestSession;
  beforeEach(async () => {
    session = await startSession(api);
  });

  const byToken = () => ({ authorization: `Bearer ${api.app.token}` });
  const revokeAll = async (trx: Trx) => {
    await trx.updateTable("api_tokens").set({ revoked_at: Date.now() }).execute();
    await revokeConsoleSession(trx, session.id, Date.now());
  };
  const rows = (table: "requests" | "wallets" | "webhooks" | "media" | "api_tokens") =>
    api.database.read.selectFrom(table).selectAll().execute();

  /** Calls that the caller has left in this minute. */
  async function callsLeft(headers: Record<string, string>): Promise<number> {
    const answer = await api.get("/v1/accounts", { token: null, headers });
    return Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
  }

  /** Makes a call, and waits until the service has authenticated it: it counts the call then. */
  async function begun<T>(headers: Record<string, string>, call: () => Promise<T>): Promise<() => Promise<T>> {
    const before = await callsLeft(headers);
    const answer = call();
    let own = 0;
    await eventually(async () => {
      own += 1;
      return before - (await callsLeft(headers)) > own || undefined;
    });
    return () => answer;
  }

  it("is not valid any more for calls that are looked up again together", async () => {
    const [session] = await api.database.read.selectFrom("console_sessions").select("hash").execute();
    const credentials: Credential[] = [
      { kind: "token", hash: hashOf(api.app.token) },
      { kind: "session", hash: session?.hash ?? "none" },
      { kind: "token", hash: "unknown" },
    ];
    const deps = { database: api.database, lookUps: createLookUps(api.database.read) };
    const isValid = (credential: Credential) =>
      requireStillValid(deps, credential).then(
        () => true,
        (error: unknown) => {
          expect(error).to.include({ errorCode: "unauthorized" });
          return false;
        },
      );
    const valid = () => Promise.all(credentials.map(isValid));
    expect(await valid()).to.deep.equal([true, true, false]);
    await api.database.write(revokeAll);
    expect(await valid()).to.deep.equal([false, false, false]);
  });

  describe("while a call waits for its turn", () => {
    /** Makes a call that waits for a transaction, which ends after `change`. */
    async function callThatWaits(
      call: () => Promise<Answer>,
      headers: Record<string, string>,
      change: (trx: Trx) => Promise<void>,
    ): Promise<Answer> {
      const answer = await api.database.write(async (trx) => {
        // On PostgreSQL, calls that are accepted wait for the row of their app; on SQLite, everything that writes waits.
        await lockApp(trx, api.app.id);
        const waiting = await begun(headers, call);
        await change(trx);
        return waiting;
      });
      return answer();
    }

    const accepted: [string, string, object, "requests" | "wallets"][] = [
      ["a request", "/v1/collections", COLLECTION, "requests"],
      ["a wallet", "/v1/accounts", {}, "wallets"],
    ];
    for (const [what, path, body, table] of accepted) {
      for (const who of ["token", "session"] as const) {
        const headersOf = () => (who === "token" ? byToken() : session.headers);

        it(`gets no ${what.slice(2)} by its ${who}`, async () => {
          const headers = headersOf();
          const call = () => api.post(path, body, { token: null, headers });
          expect((await callThatWaits(call, headers, revokeAll)).status).to.equal(401);
          expect(await rows(table)).to.deep.equal([]);
        });

        it(`gets ${what} by a ${who} that still works`, async () => {
          const headers = headersOf();
          const call = () => api.post(path, body, { token: null, headers });
          const answer = await callThatWaits(call, headers, () => Promise.resolve());
          expect(answer.status, answer.text).to.be.within(200, 202);
          expect(await rows(table)).to.have.length(1);
        });
      }
    }

    // On PostgreSQL nothing makes these calls wait.
    describeOn("sqlite", "for a call that accepts no request", () => {
      it("registers no webhook", async () => {
        const headers = byToken();
        const call = () => api.call("PUT", "/v1/webhook", { token: null, headers, body: { url: "https://a.example" } });
        expect((await callThatWaits(call, headers, revokeAll)).status).to.equal(401);
        expect(await rows("webhooks")).to.deep.equal([]);
      });

      it("stores no file", async () => {
        const headers = { ...byToken(), "content-type": "application/octet-stream" };
        const call = () => api.call("POST", "/v1/media", { token: null, headers, raw: "a file" });
        expect((await callThatWaits(call, headers, revokeAll)).status).to.equal(401);
        expect(await rows("media")).to.deep.equal([]);
      });

      it("creates no token", async () => {
        const { headers } = session;
        const call = () => api.post("/v1/tokens", { scopes: ["read"] }, { token: null, headers });
        const before = await rows("api_tokens");
        expect((await callThatWaits(call, headers, revokeAll)).status).to.equal(401);
        expect(await rows("api_tokens")).to.have.length(before.length);
      });
    });
  });

  describe("before the body of a call has arrived", () => {
    /** Sends the last bytes of the body after `meanwhile`. @returns the status. */
    async function callLate(
      path: string,
      value: object,
      headers: Record<string, string>,
      meanwhile: () => Promise<void>,
    ): Promise<number | undefined> {
      const body = JSON.stringify(value);
      const length = { "content-type": "application/json", "content-length": body.length };
      const call = request(api.baseUrl + path, { method: "POST", headers: { ...headers, ...length } });
      const answered = await begun(headers, () => {
        call.write(body.slice(0, 5));
        return once(call, "response") as Promise<[IncomingMessage]>;
      });
      await meanwhile();
      call.end(body.slice(5));
      const [answer] = await answered();
      answer.resume();
      return answer.statusCode;
    }
    const revoke = () => api.database.write(revokeAll);
    const nothing = () => Promise.resolve();

    it("creates no token by its session", async () => {
      const before = await rows("api_tokens");
      expect(await callLate("/v1/tokens", { scopes: ["read"] }, session.headers, revoke)).to.equal(401);
      expect(await rows("api_tokens")).to.have.length(before.length);
    });

    it("creates no wallet by its token", async () => {
      expect(await callLate("/v1/accounts", { user_identifier: "a" }, byToken(), revoke)).to.equal(401);
      expect(await rows("wallets")).to.deep.equal([]);
    });

    it("creates wallets by a session and a token that still work", async () => {
      expect(await callLate("/v1/accounts", { user_identifier: "a" }, session.headers, nothing)).to.equal(200);
      expect(await callLate("/v1/accounts", { user_identifier: "b" }, byToken(), nothing)).to.equal(200);
    });
  });
});
