import { expect } from "chai";

import type { Answer } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { startSession, type TestSession } from "../support/console.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";

interface Token {
  token_id: string;
  name: string;
  scopes: string[];
  rate_limit_per_minute: number | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  token?: string;
}

function tokenOf(answer: Answer): Token {
  return answer.body as unknown as Token;
}

describe("tokens", () => {
  const api = useApi();
  let session: TestSession;
  beforeEach(async () => {
    session = await startSession(api);
  });

  const create = (body: object, by = session) => by.call("POST", "/v1/tokens", { body });
  async function list(query = "", by = session): Promise<{ tokens: Token[]; next: string | null }> {
    return (await by.call("GET", `/v1/tokens${query}`)).body as unknown as { tokens: Token[]; next: string | null };
  }

  describe("POST /v1/tokens", () => {
    it("shows the token once, and it works with its scopes only", async () => {
      const made = tokenOf(await create({ scopes: ["read", "read"], expires_in_days: 90, name: "shop" }));
      expect(made).to.include({ name: "shop", revoked_at: null });
      expect(made.scopes).to.deep.equal(["read"]);
      expect(Date.parse(made.expires_at ?? "") - Date.now()).to.be.closeTo(90 * 86_400_000, 60_000);
      const { token = "", ...rest } = made;
      expect((await api.get("/v1/accounts", { token })).status).to.equal(200);
      expectRefusal(await api.post("/v1/accounts", {}, { token }), 403, "forbidden");
      const { tokens } = await list();
      expect(tokens[0]).to.deep.equal(rest);
      expect(JSON.stringify(tokens)).to.not.include(token);
    });

    it("makes one with a rate limit of its own, beside that of the app", async () => {
      const made = tokenOf(await create({ scopes: ["read"], rate_limit_per_minute: 2 }));
      expect(made).to.include({ rate_limit_per_minute: 2 });
      const { token = "" } = made;
      const first = await api.get("/v1/accounts", { token });
      expect(first.headers.get("ratelimit-policy")).to.equal('"token";q=2;w=60, "app";q=1000000;w=60');
      expect(first.headers.get("ratelimit")).to.match(/^"token";r=1;t=\d+, "app";r=\d+;t=\d+$/);
      const left = async () => {
        const answer = await api.get("/v1/accounts");
        return Number(/"app";r=(\d+)/.exec(answer.headers.get("ratelimit") ?? "")?.[1]);
      };
      expect((await api.get("/v1/accounts", { token })).status).to.equal(200);
      const before = await left();
      const refused = await api.get("/v1/accounts", { token });
      expectRefusal(refused, 429, "rate_limited");
      expect(refused.headers.get("ratelimit-policy")).to.equal('"token";q=2;w=60');
      // The refused call does not count for the app.
      expect(await left()).to.equal(before - 1);
    });

    it("makes one that never expires by default, with no limit but that of the app", async () => {
      const made = tokenOf(await create({ scopes: ["mint"] }));
      expect(made).to.include({ name: "console", expires_at: null, rate_limit_per_minute: null });
    });

    it("refuses scopes that the session lacks", async () => {
      const reader = await startSession(api, { scopes: ["read"] });
      const answer = await create({ scopes: ["read", "mint"] }, reader);
      expectRefusal(answer, 403, "forbidden");
      expect(answer.text).to.include("lacks `mint`");
      expect((await list()).tokens).to.have.length(1);
      expect((await create({ scopes: ["read"] }, reader)).status).to.equal(200);
    });

    it("says which field is wrong", async () => {
      expectInvalid(await create({ scopes: [], expires_in_days: 0 }), {
        scopes: "too_short",
        expires_in_days: "too_small",
      });
      expectInvalid(await create({ scopes: ["everything"], name: "\0" }), {
        "scopes.0": "invalid",
        name: "invalid_format",
      });
      const rated = (rate: unknown) => create({ scopes: ["read"], rate_limit_per_minute: rate });
      expectInvalid(await rated(0), { rate_limit_per_minute: "too_small" });
      expectInvalid(await rated(1_000_001), { rate_limit_per_minute: "too_big" });
      expectInvalid(await create({ expires_in_days: 3_651 }), { scopes: "required", expires_in_days: "too_big" });
    });

    it("is refused to tokens, and needs an app of the operator", async () => {
      expectRefusal(await api.post("/v1/tokens", { scopes: ["read"] }), 403, "forbidden");
      expectRefusal(await api.get("/v1/tokens"), 403, "forbidden");
      const operator = await startSession(api, { appId: null });
      expectInvalid(await create({ scopes: ["read"] }, operator), { "X-Moneta-App": "required" });
      const headers = { "x-moneta-app": api.other.id };
      const made = await operator.call("POST", "/v1/tokens", { body: { scopes: ["read"] }, headers });
      expect(made.status).to.equal(200);
      expect((await list()).tokens).to.have.length(1);
    });
  });

  describe("GET /v1/tokens", () => {
    it("pages, newest first, also if many were created at once", async () => {
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.push(tokenOf(await create({ scopes: ["read"] })).token_id);
      await api.database.write((trx) => trx.updateTable("api_tokens").set({ created_at: 5 }).execute());
      const seen: string[] = [];
      let query = "?limit=2";
      for (let page = 0; query !== "" && page < 5; page++) {
        const { tokens, next } = await list(query);
        seen.push(...tokens.map(({ token_id }) => token_id));
        query = next === null ? "" : `?limit=2&cursor=${next}`;
      }
      expect(seen).to.have.length(5);
      expect(seen).to.include.members(ids);
      expect(new Set(seen).size).to.equal(5);
    });

    it("refuses cursors that are not its own", async () => {
      const { next } = (await api.get("/v1/requests")).body;
      expect(next).to.equal(null);
      const foreign = Buffer.from("apps.5.abc").toString("base64url");
      for (const cursor of ["nonsense", foreign]) {
        expectInvalid(await session.call("GET", `/v1/tokens?cursor=${cursor}`), { cursor: "invalid_format" });
      }
    });
  });

  describe("DELETE /v1/tokens/:token_id", () => {
    it("revokes every token of the app, also the last one, and each at once", async () => {
      const { tokens } = await list();
      expect(tokens).to.have.length(1);
      const path = `/v1/tokens/${tokens[0]?.token_id ?? ""}`;
      const first = tokenOf(await session.call("DELETE", path));
      expect(Date.parse(first.revoked_at ?? "")).to.be.closeTo(Date.now(), 60_000);
      expectRefusal(await api.get("/v1/accounts"), 401, "unauthorized");
      expect(tokenOf(await session.call("DELETE", path)).revoked_at).to.equal(first.revoked_at);
      expect((await api.get("/v1/accounts", { token: api.other.token })).status).to.equal(200);
    });

    it("refuses a session that lacks a scope of the token", async () => {
      const reader = await startSession(api, { scopes: ["read"] });
      const [first] = (await list()).tokens;
      expectRefusal(await reader.call("DELETE", `/v1/tokens/${first?.token_id ?? ""}`), 403, "forbidden");
      expect((await api.get("/v1/accounts")).status).to.equal(200);
      const own = tokenOf(await create({ scopes: ["read"] }, reader));
      expect((await reader.call("DELETE", `/v1/tokens/${own.token_id}`)).status).to.equal(200);
    });
  });
});
