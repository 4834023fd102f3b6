import { expect } from "chai";

import { createApp } from "../../../api/commands/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { followForeignContract } from "../../../api/store/foreign.ts";
import { readMeta } from "../../../api/store/meta.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("a foreign contract that an app names while its blocks are being read", function () {
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

  const checkpoint = async () => Number(await readMeta(service.database.read, "checkpoint"));

  it("is followed from the block that was promised", async () => {
    const api = new ApiClient(service.baseUrl, (await createApp(service, "follow")).token);
    const wallet = await api.wallet();
    const plain = await new PlainERC721__factory(await node.provider.getSigner(3)).deploy();
    const contract = await plain.getAddress();
    const head = await eventually(async () => {
      const number = await node.provider.getBlockNumber();
      return (await checkpoint()) === number ? number : undefined;
    });
    let named = false;
    proxy.intercept = async ({ method }) => {
      if (method !== "eth_getLogs" || named) return undefined;
      named = true;
      const followed = { address: contract, type: "ERC721", name: null, followedFrom: head } as const;
      await service.database.write((trx) => followForeignContract(trx, followed));
      return undefined;
    };
    await (await plain.mint(wallet, 1)).wait();
    await eventually(async () => ((await checkpoint()) > head ? true : undefined));
    expect(named).to.equal(true);
    const held = await service.database.read
      .selectFrom("holdings")
      .select(["owner", "quantity"])
      .where("contract", "=", contract)
      .execute();
    expect(held).to.deep.equal([{ owner: wallet, quantity: "1" }]);
  });
});
