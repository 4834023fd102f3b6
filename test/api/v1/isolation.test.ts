import { expect } from "chai";

import { DEFAULT_LIMITS } from "../../../api/config/limits.ts";
import { endpointsOf } from "../../../api/v1/endpoints.ts";
import { type TestApi, startApi } from "../support/api.ts";
import { expectAccepted } from "../support/expect.ts";
import { addCollection, addMint, addWallet, randomAddress } from "../support/rows.ts";

describe("isolation of apps", () => {
  let api: TestApi;
  let theirs: Record<string, string>;
  let nobodys: Record<string, string>;
  before(async () => {
    api = await startApi();
    const wallet = await addWallet(api);
    await api.post("/v1/accounts", { user_identifier: "their user" });
    const collection = await addCollection(api);
    await addMint(api, { contract: collection, to: wallet, tokenId: 1, unlockable: "secret" });
    const request = expectAccepted(
      await api.post("/v1/nfts", { collection_address: collection, to_address: wallet, name: "secret" }),
    );
    await api.call("PUT", "/v1/webhook", { body: { url: "https://hooks.example/secret" } });
    theirs = { wallet, collection, user: "their user", request };
    nobodys = { wallet: randomAddress(), collection: randomAddress(), user: "no user", request: "0".repeat(64) };
  });
  after(() => api.close());

  /** Every path with the same kind of thing in each of its places. */
  function pathOf(path: string, things: Record<string, string>): string {
    const wallet = path.startsWith("/accounts") ? things["wallet"] : things["collection"];
    return `/v1${path}`
      .replace(":user_identifier", encodeURIComponent(things["user"] ?? ""))
      .replace(":request_id", things["request"] ?? "")
      .replace(":contract_address", things["collection"] ?? "")
      .replace(":token_id", "1")
      .replace(":address", wallet ?? "");
  }

  function bodyOf(path: string, things: Record<string, string>): object | undefined {
    if (path === "/nfts") return { collection_address: things["collection"], to_address: things["wallet"] };
    if (path !== "/transfers") return undefined;
    const to = randomAddress();
    return { from_address: things["wallet"], to_address: to, contract_address: theirs["collection"], token_id: 1 };
  }

  it("makes another app's things look like things that do not exist, at every endpoint", async () => {
    const options = { token: api.other.token };
    let compared = 0;
    for (const { method, path } of endpointsOf(DEFAULT_LIMITS)) {
      if (!path.includes(":") && !["/nfts", "/transfers"].includes(path)) continue;
      const call = (things: Record<string, string>) => {
        const body = bodyOf(path, things);
        return api.call(
          method.toUpperCase(),
          pathOf(path, things),
          body === undefined ? options : { ...options, body },
        );
      };
      const [ofTheirs, ofNobody] = [await call(theirs), await call(nobodys)];
      expect(ofTheirs.status, path).to.be.oneOf([404, 422]);
      expect({ status: ofTheirs.status, text: ofTheirs.text }, path).to.deep.equal({
        status: ofNobody.status,
        text: ofNobody.text,
      });
      compared += 1;
    }
    expect(compared).to.be.at.least(11);
  });

  it("lists nothing of another app's", async () => {
    for (const path of ["/v1/accounts", "/v1/collections", "/v1/requests"]) {
      const { body } = await api.get(path, { token: api.other.token });
      expect(body.total).to.equal(0);
      expect(body.wallets ?? body.collections ?? body.requests).to.deep.equal([]);
    }
  });

  it("keeps each app's webhook and idempotency keys to itself", async () => {
    const body = { url: "https://elsewhere.example" };
    await api.call("PUT", "/v1/webhook", { token: api.other.token, body });
    expect((await api.get("/v1/webhook")).body.url).to.equal("https://hooks.example/secret");
    const headers = { "idempotency-key": "same" };
    const first = await api.post("/v1/accounts", {}, { headers });
    const second = await api.post("/v1/accounts", {}, { headers, token: api.other.token });
    expect(second.status).to.equal(200);
    expect(second.body.address).to.not.equal(first.body.address);
  });
});
