import { expect } from "chai";

import { readMeta } from "../../../api/store/db/meta.ts";
import { type ProgrammableReceiver, ProgrammableReceiver__factory } from "../../../types/ethers-contracts/index.js";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { ProxiedService } from "../../support/proxied-service.ts";
import { Mode } from "../../support/receiver-mode.ts";

describe("a simulation that says nothing", function () {
  this.timeout(60_000);
  let proxied: ProxiedService;
  let api: ApiClient;
  let receiver: ProgrammableReceiver;
  let collection: string;

  before(async () => {
    proxied = await ProxiedService.start();
    ({ api } = proxied);
    receiver = await new ProgrammableReceiver__factory(await proxied.provider.getSigner(3)).deploy();
    collection = await api.collection({ type: "ERC721" });
  });
  afterEach(() => {
    proxied.relent();
  });
  after(() => proxied.end());

  const program = async (mode: number) => (await receiver.program(mode)).wait();
  const mint = async () =>
    api.done("/v1/nfts", { collection_address: collection, to_address: await receiver.getAddress() });

  it("because the node comes to no end with it, keeps nothing from being sent", async () => {
    await program(Mode.accept);
    // What the service makes of an exchange that takes too long, and of one that makes no sense, is the same.
    proxied.intercept = ({ method }) => (method === "eth_estimateGas" ? { result: "?" } : undefined);
    expect((await mint()).status).to.equal("completed");
  });

  it("because its block is older than what is stored, says nothing of the gas either", async () => {
    await program(Mode.useTwoMillionGas);
    const behind: unknown = await proxied.provider.send("eth_getBlockByNumber", ["latest", false]);
    await program(Mode.accept);
    const head = await proxied.provider.getBlockNumber();
    await eventually(async () =>
      Number(await readMeta(proxied.service.database.read, "checkpoint")) >= head ? true : undefined,
    );
    proxied.intercept = ({ method, params }) =>
      method === "eth_getBlockByNumber" && params[0] === "latest" ? { result: behind } : undefined;
    expect((await mint()).status).to.equal("completed");
  });
});
