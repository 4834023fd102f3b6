import { expect } from "chai";

import { issueToken, type Scope } from "../../../api/commands/api-tokens.ts";
import { revokeApiToken } from "../../../api/store/apps/api-tokens.ts";
import { useApi } from "../support/use-api.ts";
import { expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("authentication", () => {
  const api = useApi({ per: "block" });

  const issue = (scopes: Scope[] | null, expiresAt: number | null = null) =>
    issueToken(api, { appId: api.app.id, name: "test", scopes, expiresAt });

  it("accepts `Bearer <token>` in any case, and the token alone", async () => {
    for (const authorization of [`Bearer ${api.app.token}`, `bearer  ${api.app.token}`, api.app.token]) {
      const answer = await api.get("/v1/accounts", { token: null, headers: { authorization } });
      expect(answer.status).to.equal(200);
    }
  });

  it("starts tokens with a prefix for secret scanners, and stores only their hash", async () => {
    const { token, id } = await issue(null);
    expect(token).to.match(/^moneta_[A-Za-z0-9_-]{43}$/);
    const row = await api.database.read
      .selectFrom("api_tokens")
      .selectAll()
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).to.not.contain(token.slice(7));
  });

  for (const [title, authorization] of [
    ["no token", null],
    ["an empty header", ""],
    ["an unknown token", `Bearer moneta_${"x".repeat(43)}`],
    ["another scheme", `Basic ${Buffer.from("a:b").toString("base64")}`],
    ["garbage", "Bearer ' or 1=1 --"],
  ] as const) {
    it(`refuses ${title} with 401 on every path under /v1`, async () => {
      const headers: Record<string, string> = authorization === null ? {} : { authorization };
      for (const path of ["/v1/accounts", "/v1/nothing"]) {
        const answer = await api.get(path, { token: null, headers });
        expectRefusal(answer, 401, "unauthorized");
        expect(answer.headers.get("www-authenticate")).to.equal("Bearer");
      }
    });
  }

  it("refuses an expired and a revoked token", async () => {
    const expired = await issue(null, Date.now() - 1);
    expectRefusal(await api.get("/v1/accounts", { token: expired.token }), 401, "unauthorized");
    const live = await issue(null, Date.now() + 60_000);
    expect((await api.get("/v1/accounts", { token: live.token })).status).to.equal(200);
    await api.database.write((trx) => revokeApiToken(trx, live.id, Date.now()));
    expectRefusal(await api.get("/v1/accounts", { token: live.token }), 401, "unauthorized");
  });

  const calls: [Scope, string, string][] = [
    ["read", "GET", "/v1/accounts"],
    ["read", "GET", "/v1/accounts/user/someone"],
    ["read", "GET", `/v1/accounts/${randomAddress()}`],
    ["read", "GET", `/v1/accounts/${randomAddress()}/history`],
    ["read", "GET", "/v1/collections"],
    ["read", "GET", `/v1/collections/${randomAddress()}`],
    ["read", "GET", "/v1/requests"],
    ["read", "GET", `/v1/requests/${"0".repeat(64)}`],
    ["read", "POST", "/v1/receivers/check"],
    ["accounts", "POST", "/v1/accounts"],
    ["collections", "POST", "/v1/collections"],
    ["mint", "POST", "/v1/nfts"],
    ["mint", "POST", "/v1/nfts/batch"],
    ["media", "POST", "/v1/media"],
    ["transfer", "POST", "/v1/transfers"],
    ["transfer", "POST", "/v1/transfers/batch"],
    ["transfer", "POST", "/v1/burns"],
    ["transfer", "POST", "/v1/burns/batch"],
    ["webhooks", "PUT", "/v1/webhook"],
    ["webhooks", "GET", "/v1/webhook"],
    ["webhooks", "DELETE", "/v1/webhook"],
    ["contracts", "GET", "/v1/contracts"],
    ["contracts", "DELETE", `/v1/contracts/${randomAddress()}`],
  ];
  it("checks the scope of each endpoint before everything else", async () => {
    const scopes: Scope[] = ["read", "accounts", "collections", "mint", "media", "transfer", "webhooks", "contracts"];
    for (const [scope, method, path] of calls) {
      const others = await issue(scopes.filter((name) => name !== scope));
      const body = method === "GET" || method === "DELETE" ? {} : { body: { nonsense: true } };
      expectRefusal(await api.call(method, path, { token: others.token, ...body }), 403, "forbidden");
      const only = await issue([scope]);
      expect((await api.call(method, path, { token: only.token, ...body })).status, path).to.not.equal(403);
    }
  });
});
