import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import { CREATED_TOPIC } from "../../../api/chain/logs.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { PlainERC721__factory } from "../../../types/ethers-contracts/index.js";
import type { ApiClient } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { ProxiedService } from "../../support/proxied-service.ts";

const BEHIND = 3;

describe("a node that cannot be relied on", function () {
  this.timeout(60_000);
  let proxied: ProxiedService;
  let api: ApiClient;
  let outsider: JsonRpcSigner;

  before(async () => {
    proxied = await ProxiedService.start();
    ({ api } = proxied);
    outsider = await proxied.provider.getSigner(3);
  });
  afterEach(() => {
    proxied.relent();
  });
  after(() => proxied.end());

  const checkpoint = async () => Number(await readMeta(proxied.service.database.read, "checkpoint"));
  const contents = (wallet: string, rest = "") =>
    api.ok<{ nfts: { token_id: number }[]; total: number }>("GET", `/v1/accounts/${wallet}${rest}`);

  describe("given one back end that lags, and gives no logs of blocks that it does not have", () => {
    it("misses nothing: a mint completes, though ranges near the head are answered with nothing", async () => {
      const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      let unknown = 3;
      proxied.intercept = ({ method, params }) => {
        if (method !== "eth_getLogs") return undefined;
        const filter = params[0] as { blockHash?: string };
        if (filter.blockHash === undefined) return { result: [] };
        return unknown-- > 0 ? { error: { code: -32000, message: "unknown block" } } : undefined;
      };
      const mint = await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
      expect(mint.nft_token_id).to.equal(1);
      expect(unknown).to.be.below(0);
    });
  });

  describe("given a head that goes back and comes again", () => {
    it("takes nothing back", async () => {
      const [collection, to] = [await api.collection({ type: "ERC721" }), await api.wallet()];
      await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
      const before = await checkpoint();
      let asked = 0;
      proxied.intercept = ({ method }) => {
        if (method !== "eth_blockNumber") return undefined;
        asked += 1;
        return { result: `0x${(before - BEHIND).toString(16)}` };
      };
      await eventually(() => Promise.resolve(asked >= 5 ? true : undefined));
      expect(await checkpoint()).to.equal(before);
      expect((await contents(to)).total).to.equal(1);
      proxied.relent();
      expect(
        (await api.completed("/v1/nfts", { collection_address: collection, to_address: to })).nft_token_id,
      ).to.equal(2);
    });
  });

  describe("given a node that does not have the state of a block", () => {
    it("never takes a foreign token away for that, and reads it again later", async () => {
      const wallet = await api.wallet();
      const plain = await new PlainERC721__factory(outsider).deploy();
      const contract = await plain.getAddress();
      await (await plain.mint(wallet, 1)).wait();
      expect((await contents(wallet, `/${contract}`)).nfts).to.have.length(1);
      let refused = 0;
      proxied.intercept = ({ method, params }) => {
        if (method !== "eth_call" || params[1] === "latest") return undefined;
        refused += 1;
        return { error: { code: -32000, message: "header not found" } };
      };
      // Token 2 arrives: what the wallet holds of it cannot be read now.
      await (await plain.mint(wallet, 2)).wait();
      await eventually(() => Promise.resolve(refused >= 3 ? true : undefined));
      const head = await proxied.provider.getBlockNumber();
      await eventually(async () => ((await checkpoint()) >= head ? true : undefined));
      expect((await contents(wallet)).nfts.map((nft) => nft.token_id)).to.deep.equal([1]);
      proxied.relent();
      await proxied.provider.send("evm_mine", []);
      const both = await eventually(async () => {
        const { nfts } = await contents(wallet);
        return nfts.length === 2 ? nfts : undefined;
      });
      expect(both.map((nft) => nft.token_id)).to.deep.equal([1, 2]);
    });
  });

  describe("given somebody who names a collection as a contract before its block is stored", () => {
    it("counts each of its tokens once, and goes on", async () => {
      const [to, stored] = [await api.wallet(), await checkpoint()];
      // The indexer stands still; the rest of the service does not.
      let still = true;
      proxied.intercept = ({ method, params }) =>
        still && method === "eth_getBlockByNumber" && params[0] !== "latest"
          ? { error: { code: -32000, message: "?" } }
          : undefined;
      const id = await api.accept("/v1/collections", { type: "ERC721", name: "Early", symbol: "EAR" });
      const factory = proxied.service.contracts.factory;
      const address = await eventually(async () => {
        const logs = await proxied.provider.getLogs({
          address: factory,
          topics: [CREATED_TOPIC],
          fromBlock: stored + 1,
        });
        const data = logs[0]?.data;
        return data === undefined ? undefined : `0x${data.slice(26, 66)}`;
      });
      expect((await contents(to, `/${address}`)).total).to.equal(0);
      expect(
        await proxied.service.database.read
          .selectFrom("foreign_contracts")
          .select("type")
          .where("followed_from", ">", stored)
          .execute(),
      ).to.deep.equal([{ type: "ERC721" }]);
      still = false;
      const { nft_collection: collection } = await api.settled(id);
      if (collection === null) throw new Error("a completed collection has an address");
      expect(collection.toLowerCase()).to.equal(address);
      await api.completed("/v1/nfts", { collection_address: collection, to_address: to });
      expect((await contents(to, `/${address}`)).total).to.equal(1);
      const { history } = await api.ok<{ history: object[] }>("GET", `/v1/accounts/${to}/history`);
      expect(history).to.have.length(1);
    });
  });
});
