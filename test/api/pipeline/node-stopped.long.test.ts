import { expect } from "chai";

import { PlainERC721__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC721__factory.ts";
import { eventually } from "../../support/eventually.ts";
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
    await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet });
    const outsider = await moneta.provider.getSigner(3);
    const plain = [
      await new PlainERC721__factory(outsider).deploy(),
      await new PlainERC721__factory(outsider).deploy(),
    ];
    for (const contract of plain) await (await contract.mint(wallet, 5)).wait();
    [followed = "", unknown = ""] = await Promise.all(plain.map((contract) => contract.getAddress()));
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}/5`);
    await proxy.stop();
  });
  after(() => proxy.stop());

  const unavailable = async (method: string, path: string, body?: Record<string, unknown>) => {
    const response = await fetch(moneta.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${moneta.app.token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status, path).to.equal(503);
    expect(await response.json()).to.include({ error_code: "unavailable" });
    expect(Number(response.headers.get("retry-after"))).to.be.within(1, 60);
  };

  it("answers calls that need the chain with 503 and Retry-After", async () => {
    const transfer = { from_address: wallet, to_address: collection, contract_address: unknown, token_id: 5 };
    const before = await api.ok<{ total: number }>("GET", "/v1/requests");
    await unavailable("POST", "/v1/transfers", transfer);
    expect(await api.ok<{ total: number }>("GET", "/v1/requests")).to.include({ total: before.total });
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
    const transfer = {
      from_address: wallet,
      to_address: await api.wallet(),
      contract_address: collection,
      token_id: 1,
    };
    for (const [path, body] of [
      ["/v1/collections", { type: "ERC1155", name: "Later", symbol: "LTR" }],
      ["/v1/nfts", { collection_address: collection, to_address: wallet }],
      ["/v1/transfers", transfer],
    ] as const) {
      const id = await api.accept(path, body);
      expect(await api.ok("GET", `/v1/requests/${id}`)).to.include({ status: "pending" });
    }
    const refused = await api.send("POST", "/v1/transfers", transfer);
    expect(refused).to.deep.include({ status: 422 });
    expect(refused.body).to.include({ error_code: "token_busy" });
  });

  it("stays ready, because it accepts requests, and /readyz says in one word that the chain does not answer", async () => {
    const readyz = await eventually(async () => {
      const answer = await fetch(`${moneta.baseUrl}/readyz`);
      const { checks } = (await answer.json()) as { checks?: Record<string, string> };
      return checks?.["chain"] === "unavailable" ? { status: answer.status, checks } : undefined;
    });
    expect(readyz.status).to.equal(200);
    for (const word of Object.values(readyz.checks)) expect(["ok", "unavailable", "failing"]).to.include(word);
    expect((await fetch(`${moneta.baseUrl}/healthz`)).status).to.equal(200);
  });
});
