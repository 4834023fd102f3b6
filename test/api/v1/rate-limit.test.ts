import { expect } from "chai";

import { issueToken } from "../../../api/commands/api-tokens.ts";
import { clientAt } from "../../../api/v1/rate-limit.ts";
import { type Answer, type TestApi, startApi } from "../support/api.ts";
import { startSession } from "../support/console.ts";
import { expectRefusal } from "../support/expect.ts";

describe("rate limit", () => {
  let api: TestApi;
  beforeEach(async () => {
    api = await startApi({ limits: { ratePerMinute: 5 } });
  });
  afterEach(() => api.close());

  const calls = (count: number, call: () => Promise<Answer>) => Promise.all(Array.from({ length: count }, call));
  const list = (token?: string) => api.get("/v1/accounts", token === undefined ? {} : { token });
  const statuses = (answers: Answer[]) => answers.map((answer) => answer.status).sort();

  it("shows the remaining calls in each answer", async () => {
    const first = await list();
    expect(first.headers.get("ratelimit-policy")).to.equal('"app";q=5;w=60');
    expect(first.headers.get("ratelimit")).to.match(/^"app";r=4;t=(59|60)$/);
    expect((await list()).headers.get("ratelimit")).to.match(/^"app";r=3;/);
    const refused = await api.post("/v1/nfts", {});
    expect(refused.status).to.equal(422);
    expect(refused.headers.get("ratelimit")).to.match(/^"app";r=2;/);
  });

  it("refuses the call after the last, with the seconds to wait", async () => {
    expect(statuses(await calls(6, list))).to.deep.equal([200, 200, 200, 200, 200, 429]);
    const refused = await list();
    expectRefusal(refused, 429, "rate_limited");
    expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
    expect(refused.headers.get("ratelimit")).to.match(/^"app";r=0;t=\d+$/);
  });

  it("counts the tokens and sessions of an app together, and other apps apart", async () => {
    const second = await issueToken(api, { appId: api.app.id, name: "second", scopes: null, expiresAt: null });
    // Signing in counts as the session's first call.
    const session = await startSession(api);
    await calls(2, list);
    expect((await list(second.token)).headers.get("ratelimit")).to.match(/^"app";r=1;/);
    expect((await session.call("GET", "/v1/accounts")).headers.get("ratelimit")).to.match(/^"app";r=0;/);
    expect((await list(second.token)).status).to.equal(429);
    expect((await session.call("GET", "/v1/accounts")).status).to.equal(429);
    expect((await list(api.other.token)).status).to.equal(200);
  });

  describe("for the items of batches", () => {
    const batch = (count: number, token?: string) =>
      api.post(
        "/v1/nfts/batch",
        { items: Array.from({ length: count }, () => ({})) },
        token === undefined ? {} : { token },
      );
    beforeEach(async () => {
      await api.close();
      api = await startApi({ limits: { batchItemsPerMinute: 10 } });
    });

    it("has a count of its own for each app, beside that of its calls", async () => {
      const first = await batch(7);
      expect(first.status).to.equal(200);
      expect(first.headers.get("ratelimit-policy")).to.equal('"app";q=1000000;w=60, "items";q=10;w=60');
      expect(first.headers.get("ratelimit")).to.match(/^"app";r=999999;t=\d+, "items";r=3;t=(59|60)$/);
      expect((await batch(7, api.other.token)).status).to.equal(200);
      expect((await list()).headers.get("ratelimit-policy")).to.equal('"app";q=1000000;w=60');
    });

    it("refuses a batch with more items than are left, says when to repeat it, and accepts a smaller one", async () => {
      await batch(7);
      const refused = await batch(4);
      expectRefusal(refused, 429, "rate_limited");
      expect(refused.text).to.contain("too many items");
      expect(Number(refused.headers.get("retry-after"))).to.be.within(1, 60);
      expect((await batch(3)).status).to.equal(200);
      expectRefusal(await batch(1), 429, "rate_limited");
    });

    it("accepts one that takes the whole minute, and names the setting to one that no minute has room for", async () => {
      const refused = await batch(11);
      expectRefusal(refused, 422, "validation_failed");
      expect(refused.text).to.contain("Has 11 items").and.to.contain("10 in a minute (BATCH_ITEMS_PER_MINUTE)");
      expect((await batch(10)).status).to.equal(200);
    });
  });

  it("stores nothing of a refused call", async () => {
    await calls(5, list);
    const before = await api.database.read.selectFrom("wallets").select("address").execute();
    expectRefusal(await api.post("/v1/accounts", {}), 429, "rate_limited");
    expect(await api.database.read.selectFrom("wallets").select("address").execute()).to.deep.equal(before);
  });

  it("limits calls without a valid token by address, and lets those pass that were valid lately", async () => {
    expect((await list()).status).to.equal(200);
    const answers = await calls(7, () => api.get("/v1/accounts", { token: `moneta_${"x".repeat(43)}` }));
    expect(statuses(answers)).to.deep.equal([401, 401, 401, 401, 401, 429, 429]);
    const refused = await api.get("/v1/accounts", { token: null });
    expectRefusal(refused, 429, "rate_limited");
    expect(refused.headers.get("ratelimit-policy")).to.equal('"address";q=5;w=60');
    expect((await list()).status).to.equal(200);
    expect((await api.get("/healthz", { token: null })).status).to.equal(200);
    // The service has not seen this one, and does not ask the database for it.
    expectRefusal(await list(api.other.token), 429, "rate_limited");
  });

  it("limits the calls of an address to public routes, before they do anything", async () => {
    await api.close();
    // One more than the paths below: the answers are compared with the document, which is read once.
    api = await startApi({ limits: { publicRatePerMinute: 8 } });
    expect((await list()).status).to.equal(200);
    const paths = ["/", "/docs", "/openapi.json", "/console/", "/ipfs/nothing", "/metadata/nothing", "/nothing"];
    for (const path of paths) expect((await fetch(api.baseUrl + path)).status, path).not.to.equal(429);
    for (const path of paths) {
      const refused = await fetch(api.baseUrl + path);
      expect(refused.status, path).to.equal(429);
      expect(await refused.json()).to.include({ error_code: "rate_limited" });
      expect(refused.headers.get("ratelimit-policy")).to.equal('"public";q=8;w=60');
    }
    expectRefusal(await api.post("/v1/console/session", { code: "x" }, { token: null }), 429, "rate_limited");
    expect((await list()).status).to.equal(200);
    expect((await api.get("/readyz", { token: null })).status).to.equal(200);
  });

  describe("behind a proxy", () => {
    const from = (client: string) =>
      api.get("/v1/accounts", { token: null, headers: { "X-Forwarded-For": `198.51.100.9, ${client}` } });

    it("counts each client that a trusted proxy names, and logs it", async () => {
      await api.close();
      api = await startApi({ limits: { ratePerMinute: 5 }, trustProxy: ["loopback"] });
      const first = await calls(6, () => from("203.0.113.1"));
      expect(statuses(first)).to.deep.equal([401, 401, 401, 401, 401, 429]);
      expect((await from("203.0.113.2")).status).to.equal(401);
      expect(api.log.join("")).to.contain('"client":"203.0.113.1"').and.not.contain("198.51.100.9");
    });

    it("ignores the header of anybody else", async () => {
      let client = 0;
      await api.get("/", { token: null, headers: { "X-Forwarded-For": "203.0.113.200" } });
      expect(api.log.join("")).to.contain("TRUST_PROXY is not set");
      const answers = await calls(6, () => from(`203.0.113.${(client++).toString()}`));
      expect(statuses(answers)).to.deep.equal([401, 401, 401, 401, 401, 429]);
      expect(api.log.join("")).not.to.contain("203.0.113");
    });

    it("keeps idle connections longer than proxies do", async () => {
      expect((await list()).headers.get("keep-alive")).to.equal("timeout=75");
    });
  });

  it("counts an IPv6 network as one address", () => {
    for (const [address, network] of [
      ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
      ["2001:db8:1:2::9", "2001:db8:1:2"],
      ["2001:db8::9", "2001:db8:0:0"],
      ["::1", "0:0:0:0"],
    ] as const) {
      expect(clientAt(address), address).to.equal(network);
    }
  });
});
