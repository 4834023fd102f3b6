import { expect } from "chai";

import { Foreign } from "../../support/foreign.ts";
import { type RpcProxy, startRpcProxy } from "../../../scripts/scene/rpc-proxy.ts";
import { useService } from "../../support/use-service.ts";

describe("a stopped node", () => {
  // To the service, its node stops: nothing listens at RPC_URL any more.
  const moneta = useService({ start: false });
  const { api } = moneta;
  let proxy: RpcProxy;
  let wallet: string;
  let collection: string;
  let followed: string;
  let unknown: string;

  before(async () => {
    proxy = await startRpcProxy(moneta.node.url);
    await moneta.start({ RPC_URL: proxy.url });
    wallet = await api.wallet();
    collection = await api.collection({ type: "ERC721" });
    await api.mint(collection, wallet);
    const foreign = new Foreign(moneta);
    [followed, unknown] = [(await foreign.plain(wallet, 5)).address, (await foreign.plain(wallet, 5)).address];
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}/5`);
    await proxy.stop();
  });
  after(() => proxy.stop());

  it("answers calls that need the chain with 503 and Retry-After", async () => {
    const transfer = { from_address: wallet, to_address: collection, contract_address: unknown, token_id: 5 };
    const { total } = await api.ok<{ total: number }>("GET", "/v1/requests");
    const response = await fetch(`${moneta.baseUrl}/v1/transfers`, {
      method: "POST",
      headers: { authorization: `Bearer ${moneta.app.token}`, "content-type": "application/json" },
      body: JSON.stringify(transfer),
    });
    expect(response.status).to.equal(503);
    expect(await response.json()).to.include({ error_code: "unavailable" });
    expect(Number(response.headers.get("retry-after"))).to.be.within(1, 60);
    expect(await api.ok("GET", "/v1/requests")).to.include({ total });
  });

  it("does not ask the chain for contents of a foreign contract: they are read later", async () => {
    expect(await api.ok("GET", `/v1/accounts/${wallet}/${unknown}`)).to.include({ total: 0, as_of_block: null });
    expect((await api.send("GET", `/v1/accounts/${wallet}/${unknown}/5`)).status).to.equal(200);
  });

  it("serves calls from the database, and accepts requests for later", async () => {
    for (const path of [
      `/v1/accounts/${wallet}`,
      `/v1/collections/${collection}/1`,
      `/v1/accounts/${wallet}/${followed}`,
    ]) {
      expect((await api.send("GET", path)).status, path).to.equal(200);
    }
    await api.wallet();
    const to_address = await api.wallet();
    const transfer = { from_address: wallet, to_address, contract_address: collection, token_id: 1 };
    for (const [path, body] of [
      ["/v1/collections", { type: "ERC1155", name: "Later", symbol: "LTR" }],
      ["/v1/nfts", { collection_address: collection, to_address: wallet }],
      ["/v1/transfers", transfer],
    ] as const) {
      const id = await api.accept(path, body);
      expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending" });
    }
    expect(await api.refusal("POST", "/v1/transfers", transfer)).to.equal("422 token_busy");
  });

  it("stays ready, because it accepts requests, and /readyz says in one word that the chain does not answer", async () => {
    await moneta.says("unavailable", "chain");
    const { status, checks } = await moneta.readyz();
    expect(status).to.equal(200);
    for (const word of Object.values(checks)) expect(["ok", "unavailable", "failing"]).to.include(word);
    expect((await fetch(`${moneta.baseUrl}/healthz`)).status).to.equal(200);
  });
});
