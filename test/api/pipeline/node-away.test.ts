import { expect } from "chai";

import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode } from "../../support/node.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("a node that is away", function () {
  this.timeout(60_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let token: string;
  let wallet: string;
  let collection: string;
  let followed: string;
  let unknown: string;

  before(async () => {
    const node = await startNode();
    folder = await temporaryFolder();
    service = await startTestService({ rpcUrl: node.url, dataDir: folder.path });
    ({ token } = await createApp(service, "patient"));
    api = new ApiClient(service.baseUrl, token);
    wallet = await api.wallet();
    collection = await api.collection({ type: "ERC721" });
    await api.completed("/v1/nfts", { collection_address: collection, to_address: wallet });
    const outsider = await node.provider.getSigner(3);
    const plain = [
      await new PlainERC721__factory(outsider).deploy(),
      await new PlainERC721__factory(outsider).deploy(),
    ];
    for (const contract of plain) await (await contract.mint(wallet, 5)).wait();
    [followed = "", unknown = ""] = await Promise.all(plain.map((contract) => contract.getAddress()));
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}/5`);
    await node.stop();
  });
  after(async () => {
    await service.stop();
    await folder.remove();
  });

  const unavailable = async (method: string, path: string, body?: Record<string, unknown>) => {
    const response = await fetch(service.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(response.status, path).to.equal(503);
    expect(await response.json()).to.include({ error_code: "unavailable" });
    expect(Number(response.headers.get("retry-after"))).to.be.within(1, 60);
  };

  it("keeps from calls what only the chain can tell: 503, and when to try again", async () => {
    const transfer = { from_address: wallet, to_address: collection, contract_address: unknown, token_id: 5 };
    const before = await api.ok<{ total: number }>("GET", "/v1/requests");
    await unavailable("POST", "/v1/transfers", transfer);
    await unavailable("GET", `/v1/accounts/${wallet}/${unknown}`);
    await unavailable("GET", `/v1/accounts/${wallet}/${unknown}/5`);
    expect(await api.ok<{ total: number }>("GET", "/v1/requests")).to.include({ total: before.total });
  });

  it("is no hindrance to calls that the database can answer, and to requests for later", async () => {
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

  it("shows in readyz, not in healthz", async () => {
    await eventually(async () => ((await fetch(`${service.baseUrl}/readyz`)).status === 503 ? true : undefined));
    expect((await fetch(`${service.baseUrl}/healthz`)).status).to.equal(200);
  });
});
