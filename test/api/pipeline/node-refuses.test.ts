import { expect } from "chai";

import { createApp } from "../../../api/commands/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient } from "../../support/api-client.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("a node that answers, and refuses every call for a limit of its own", function () {
  this.timeout(60_000);
  let node: TestNode;
  let proxy: RpcProxy;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };

  before(async () => {
    node = await startNode();
    proxy = await startRpcProxy(node.url);
    folder = await temporaryFolder();
    service = await startTestService({ rpcUrl: proxy.url, dataDir: folder.path });
  });
  after(async () => {
    await service.stop();
    await proxy.stop();
    await node.stop();
    await folder.remove();
  });

  it("is to callers as one that is away", async () => {
    const api = new ApiClient(service.baseUrl, (await createApp(service, "refused")).token);
    const wallet = await api.wallet();
    const outsider = await node.provider.getSigner(3);
    const contracts = [];
    for (let count = 0; count < 2; count++) {
      const plain = await new PlainERC721__factory(outsider).deploy();
      await (await plain.mint(wallet, 5)).wait();
      contracts.push(await plain.getAddress());
    }
    const [followed = "", unknown = ""] = contracts;
    await api.ok("GET", `/v1/accounts/${wallet}/${followed}`);
    proxy.intercept = () => ({ error: { code: -32_005, message: "too many requests" } });

    const transfer = { from_address: wallet, to_address: followed, contract_address: unknown, token_id: 5 };
    for (const answer of [
      await api.send("POST", "/v1/transfers", transfer),
      await api.send("GET", `/v1/accounts/${wallet}/${unknown}`),
    ]) {
      expect([answer.status, answer.body["error_code"]]).to.deep.equal([503, "unavailable"]);
    }
    expect((await api.send("GET", `/v1/accounts/${wallet}/${followed}`)).status).to.equal(200);
  });
});
