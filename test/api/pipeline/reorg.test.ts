import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { createApp } from "../../../api/operator/create-app.ts";
import type { Service } from "../../../api/context/service.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/index.js";
import { ApiClient, type RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { startNode, type TestNode } from "../../support/node.ts";
import { startTestService, temporaryFolder } from "../../support/service.ts";

const CONFIRMATIONS = 4;

describe("a reorganisation of the chain", function () {
  this.timeout(90_000);
  let node: TestNode;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: Service & { baseUrl: string };
  let api: ApiClient;
  let outsider: JsonRpcSigner;

  before(async () => {
    node = await startNode();
    folder = await temporaryFolder();
    service = await startTestService({
      rpcUrl: node.url,
      dataDir: folder.path,
      env: { CONFIRMATIONS: CONFIRMATIONS.toString() },
    });
    api = new ApiClient(service.baseUrl, (await createApp(service, "reorg")).token);
    outsider = await node.provider.getSigner(3);
  });
  after(async () => {
    await service.stop();
    await node.stop();
    await folder.remove();
  });

  const mine = (blocks: number) => node.provider.send("hardhat_mine", [`0x${blocks.toString(16)}`]);
  const request = (id: string) => api.ok<RequestBody>("GET", `/v1/requests/${id}`);
  const inBlock = (id: string) =>
    eventually(async () => {
      const found = await request(id);
      return found.block_number === null ? undefined : found;
    });

  async function final(id: string): Promise<RequestBody> {
    await inBlock(id);
    await mine(CONFIRMATIONS);
    return api.settled(id);
  }

  describe("given a mint in a block that the chain drops before it is deep enough", () => {
    it("takes it back, sends the same bytes again, and completes it once", async () => {
      const to = await api.wallet();
      const { nft_collection: collection } = await final(
        await api.accept("/v1/collections", { type: "ERC721", name: "Reorg", symbol: "RRG", mint_supply_count: 2 }),
      );
      if (collection === null) throw new Error("no collection");
      const snapshot: unknown = await node.provider.send("evm_snapshot", []);
      const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: to, name: "One" });
      const seen = await eventually(async () => {
        const found = await request(id);
        return found.nft_token_id === null ? undefined : found;
      });
      expect(seen).to.include({ status: "processing", nft_token_id: 1 });
      const metadata = `${service.baseUrl}/metadata/31337/${collection}/1`;
      expect((await fetch(metadata)).headers.get("cache-control")).to.equal("no-store");

      // The chain goes back behind the mint, and on without it.
      await node.provider.send("evm_revert", [snapshot]);
      await mine(1);
      await eventually(async () => ((await fetch(metadata)).status === 404 ? true : undefined));
      expect(await request(id)).to.include({ status: "processing", nft_token_id: null });
      expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${to}`)).total).to.equal(0);

      // The bytes are sent again by themselves.
      const settled = await final(id);
      expect(settled).to.include({ status: "completed", nft_token_id: 1, transaction_hash: seen.transaction_hash });
      const contract = ERC721Collection__factory.connect(collection, node.provider);
      expect(await contract.totalMinted()).to.equal(1n);
      expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${to}`)).total).to.equal(1);
      expect((await api.ok<{ nfts: object[] }>("GET", `/v1/collections/${collection}`)).nfts).to.have.length(1);
      const { history } = await api.ok<{ history: object[] }>("GET", `/v1/collections/${collection}/1/history`);
      expect(history).to.have.length(1);

      // The cap counts one: a second mint is accepted, a third is not.
      await final(await api.accept("/v1/nfts", { collection_address: collection, to_address: to }));
      const third = await api.send("POST", "/v1/nfts", { collection_address: collection, to_address: to });
      expect(third.body).to.include({ error_code: "supply_exceeded" });
    });
  });

  describe("given a transfer outside the service that the chain drops", () => {
    it("gives the token back to its owner in every listing", async () => {
      const wallet = await api.wallet();
      const { nft_collection: collection } = await final(
        await api.accept("/v1/collections", { type: "ERC721", name: "Outside", symbol: "OUT" }),
      );
      if (collection === null) throw new Error("no collection");
      await final(await api.accept("/v1/nfts", { collection_address: collection, to_address: outsider.address }));
      const snapshot: unknown = await node.provider.send("evm_snapshot", []);
      const contract = ERC721Collection__factory.connect(collection, outsider);
      await (await contract.transferFrom(outsider.address, wallet, 1)).wait();
      const owner = async () => (await api.ok<{ owner: string }>("GET", `/v1/collections/${collection}/1`)).owner;
      await eventually(async () => ((await owner()) === wallet ? true : undefined));
      await node.provider.send("evm_revert", [snapshot]);
      await mine(2);
      await eventually(async () => ((await owner()) === outsider.address ? true : undefined));
      expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${wallet}`)).total).to.equal(0);
      expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${wallet}/history`)).total).to.equal(0);
    });
  });
});
