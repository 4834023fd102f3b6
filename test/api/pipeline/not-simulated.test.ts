import { expect } from "chai";

import { createApp } from "../../../api/commands/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { readMeta } from "../../../api/store/meta.ts";
import { type ProgrammableReceiver, ProgrammableReceiver__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { Mode } from "../../support/receiver-mode.ts";
import { type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

describe("a simulation that says nothing", function () {
  this.timeout(60_000);
  let node: TestNode;
  let proxy: RpcProxy;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let receiver: ProgrammableReceiver;
  let collection: string;

  before(async () => {
    node = await startNode();
    proxy = await startRpcProxy(node.url);
    folder = await temporaryFolder();
    service = await startTestService({ rpcUrl: proxy.url, dataDir: folder.path });
    api = new ApiClient(service.baseUrl, (await createApp(service, "simulation")).token);
    receiver = await new ProgrammableReceiver__factory(await node.provider.getSigner(3)).deploy();
    collection = await api.collection({ type: "ERC721" });
  });
  afterEach(() => {
    proxy.intercept = () => undefined;
  });
  after(async () => {
    await service.stop();
    await proxy.stop();
    await node.stop();
    await folder.remove();
  });

  const program = async (mode: number) => (await receiver.program(mode)).wait();
  const mint = async () =>
    api.done("/v1/nfts", { collection_address: collection, to_address: await receiver.getAddress() });

  it("because the node comes to no end with it, keeps nothing from being sent", async () => {
    await program(Mode.accept);
    // What the service makes of an exchange that takes too long, and of one that makes no sense, is the same.
    proxy.intercept = ({ method }) => (method === "eth_estimateGas" ? { result: "?" } : undefined);
    expect((await mint()).status).to.equal("completed");
  });

  it("because its block is older than what is stored, says nothing of the gas either", async () => {
    await program(Mode.useTwoMillionGas);
    const behind: unknown = await node.provider.send("eth_getBlockByNumber", ["latest", false]);
    await program(Mode.accept);
    const head = await node.provider.getBlockNumber();
    await eventually(async () =>
      Number(await readMeta(service.database.read, "checkpoint")) >= head ? true : undefined,
    );
    proxy.intercept = ({ method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: behind } : undefined;
    expect((await mint()).status).to.equal("completed");
  });
});
