import { expect } from "chai";

import { type Answer, type TestApi, startApi } from "../support/api.ts";
import { expectInvalid } from "../support/expect.ts";
import { addWallet } from "../support/api-rows.ts";

describe("pages", () => {
  let api: TestApi;
  const wallets: string[] = [];
  before(async () => {
    api = await startApi();
    for (let n = 0; n < 35; n++) wallets.push(await addWallet(api));
    await addWallet(api, api.other.token);
  });
  after(() => api.close());

  const addresses = (answer: Answer) => answer.body.wallets?.map((row) => row.address);

  it("have 30 rows by default, and the total of all rows", async () => {
    const answer = await api.get("/v1/accounts");
    expect(addresses(answer)).to.deep.equal(wallets.slice(0, 30));
    expect(answer.body).to.include({ total: 35, limit: 30, offset: 0 });
    expect(answer.body.next).to.be.a("string");
  });

  it("skip `offset` rows", async () => {
    const answer = await api.get("/v1/accounts?limit=10&offset=20");
    expect(addresses(answer)).to.deep.equal(wallets.slice(20, 30));
    expect(answer.body).to.include({ total: 35, limit: 10, offset: 20 });
    const beyond = await api.get("/v1/accounts?offset=1000");
    expect(beyond.body).to.deep.include({ wallets: [], total: 35, next: null });
  });

  it("can be followed by cursor to the end, without gap or repetition", async () => {
    const seen: string[] = [];
    let path = "/v1/accounts?limit=8";
    for (let offset = 0; ; offset += 8) {
      const answer = await api.get(path);
      expect(answer.body.offset).to.equal(offset);
      seen.push(...(answer.body.wallets ?? []).map((row) => row.address ?? ""));
      const { next } = answer.body;
      if (next == null) break;
      path = `/v1/accounts?limit=8&cursor=${next}`;
    }
    expect(seen).to.deep.equal(wallets);
  });

  it("can be followed by cursor from a page with an offset", async () => {
    const middle = await api.get("/v1/accounts?limit=5&offset=10");
    const next = await api.get(`/v1/accounts?limit=5&cursor=${middle.body.next ?? ""}`);
    expect(addresses(next)).to.deep.equal(wallets.slice(15, 20));
    expect(next.body.offset).to.equal(15);
  });

  it("have a null cursor exactly at the last row", async () => {
    expect((await api.get("/v1/accounts?limit=5&offset=30")).body.next).to.equal(null);
    expect((await api.get("/v1/accounts?limit=5&offset=29")).body.next).to.be.a("string");
  });

  for (const [query, field, code] of [
    ["limit=0", "limit", "too_small"],
    ["limit=31", "limit", "too_big"],
    ["limit=-1", "limit", "too_small"],
    ["limit=1e1", "limit", "wrong_type"],
    ["limit=", "limit", "wrong_type"],
    ["limit=1&limit=2", "limit", "wrong_type"],
    ["offset=-1", "offset", "too_small"],
    ["offset=10001", "offset", "too_big"],
    ["offset=9999999999999999", "offset", "too_big"],
    ["cursor=nonsense", "cursor", "invalid_format"],
    ["cursor=", "cursor", "invalid_format"],
  ] as const) {
    it(`refuse ?${query}`, async () => {
      expectInvalid(await api.get(`/v1/accounts?${query}`), { [field]: code });
    });
  }

  it("name `cursor` when `offset` is too large", async () => {
    expect((await api.get("/v1/accounts?offset=10000")).status).to.equal(200);
    const refused = await api.get("/v1/accounts?offset=10001");
    expect(JSON.stringify(refused.body)).to.include(
      "Must be at most 10000. To go further, follow `next` with `cursor`.",
    );
  });

  it("refuse a cursor of another listing, or together with an offset", async () => {
    const next = (await api.get("/v1/accounts?limit=1")).body.next ?? "";
    expectInvalid(await api.get(`/v1/requests?cursor=${next}`), { cursor: "invalid_format" });
    expectInvalid(await api.get(`/v1/accounts?cursor=${next}&offset=1`), { cursor: "conflict" });
  });
});
