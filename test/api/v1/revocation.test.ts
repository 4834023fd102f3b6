import { expect } from "chai";

import { hashOfToken } from "../../../api/commands/api-tokens.ts";
import type { Credential } from "../../../api/commands/credential.ts";
import { LookUps } from "../../../api/commands/look-ups.ts";
import { lockApp } from "../../../api/store/apps/apps.ts";
import { revokeConsoleSession } from "../../../api/store/apps/console-sessions.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { describeOn } from "../../support/engine.ts";
import { eventually } from "../../support/eventually.ts";
import { type Answer } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { startSession, type TestSession } from "../support/console.ts";

const COLLECTION = { type: "ERC721", name: "Cats", symbol: "CAT" };

describe("a token or session that is revoked while a call waits for its turn", () => {
  const api = useApi({ per: "test" });
  let session: TestSession;
  beforeEach(async () => {
    session = await startSession(api);
  });

  const byToken = () => ({ authorization: `Bearer ${api.app.token}` });
  const revokeAll = async (trx: Trx) => {
    await trx.updateTable("api_tokens").set({ revoked_at: Date.now() }).execute();
    await revokeConsoleSession(trx, session.id, Date.now());
  };

  /** Calls that the caller has left in this minute. The service counts a call when it has authenticated it. */
  async function callsLeft(headers: Record<string, string>): Promise<number> {
    const answer = await api.get("/v1/accounts", { token: null, headers });
    return Number(/r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
  }

  /** Makes a call that waits for a transaction, which ends after `change`. */
  async function callThatWaits(
    call: () => Promise<Answer>,
    headers: Record<string, string>,
    change: (trx: Trx) => Promise<void>,
  ): Promise<Answer> {
    const before = await callsLeft(headers);
    let answer: Promise<Answer> | undefined;
    await api.database.write(async (trx) => {
      // On PostgreSQL, calls that are accepted wait for the row of their app; on SQLite, everything that writes waits.
      await lockApp(trx, api.app.id);
      answer = call();
      let own = 0;
      await eventually(async () => {
        own += 1;
        return before - (await callsLeft(headers)) > own || undefined;
      });
      await change(trx);
    });
    if (answer === undefined) throw new Error("the call was not made");
    return answer;
  }

  it("is not valid any more for calls that are looked up again together", async () => {
    const [session] = await api.database.read.selectFrom("console_sessions").select("hash").execute();
    const credentials: Credential[] = [
      { kind: "token", hash: hashOfToken(api.app.token) },
      { kind: "session", hash: session?.hash ?? "none" },
      { kind: "token", hash: "unknown" },
    ];
    const lookUps = new LookUps(api.database.read);
    const valid = () => Promise.all(credentials.map((credential) => lookUps.isValid(credential)));
    expect(await valid()).to.deep.equal([true, true, false]);
    await api.database.write(revokeAll);
    expect(await valid()).to.deep.equal([false, false, false]);
  });

  const rows = (table: "requests" | "wallets" | "webhooks" | "media") =>
    api.database.read.selectFrom(table).selectAll().execute();

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
      const before = await api.database.read.selectFrom("api_tokens").selectAll().execute();
      expect((await callThatWaits(call, headers, revokeAll)).status).to.equal(401);
      const after = await api.database.read.selectFrom("api_tokens").selectAll().execute();
      expect(after).to.have.length(before.length);
    });
  });
});
