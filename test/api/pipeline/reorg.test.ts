import { expect } from "chai";
import type { JsonRpcSigner } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import type { RequestBody } from "../../support/api-client.ts";
import { eventually } from "../../support/eventually.ts";
import { useService } from "../../support/use-service.ts";

const CONFIRMATIONS = 4;

describe("confirmations and reorganizations of the chain", () => {
  // The chain is reverted, and the service starts again with another setting.
  const moneta = useService({ settings: { CONFIRMATIONS: CONFIRMATIONS.toString() } });
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  // One by one: blocks that Hardhat mines together do not name their parents.
  const mine = (blocks: number) =>
    Promise.all(Array.from({ length: blocks }, () => moneta.provider.send("evm_mine", [])));
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

  async function newCollection(fields: { mint_supply_count?: number } = {}): Promise<string> {
    const body = { type: "ERC721", name: "Reorg", symbol: "RRG", ...fields } as const;
    const { nft_collection: collection } = await final(await api.accept("/v1/collections", body));
    if (collection === null) throw new Error("no collection");
    return collection;
  }
  const snapshot = (): Promise<unknown> => moneta.provider.send("evm_snapshot", []);
  /** Drops the blocks since the snapshot. The chain grows without them, also when the service has sent its transaction again. */
  async function dropSince(before: unknown): Promise<void> {
    await moneta.provider.send("evm_setAutomine", [false]);
    await moneta.provider.send("evm_revert", [before]);
    await mine(1);
  }
  /** The service broadcasts the same bytes again. They may be in the pool already. */
  async function mineAgain(): Promise<void> {
    await moneta.provider.send("evm_setAutomine", [true]);
    await mine(1);
  }

  it("given a mint in a block that is not deep enough: lists the token as not final, then as final, and stays with that", async () => {
    const wallet = await api.wallet();
    const collection = await newCollection();
    const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet });
    const paths = [
      `/v1/accounts/${wallet}`,
      `/v1/accounts/${wallet}/history`,
      `/v1/collections/${collection}`,
      `/v1/collections/${collection}/1/history`,
    ];
    const finals = async () => {
      const pages = await Promise.all(
        paths.map((path) => api.ok<Partial<Record<string, { final: boolean }[]>>>("GET", path)),
      );
      const token = await api.ok<{ final: boolean }>("GET", `/v1/collections/${collection}/1`);
      return [...pages.flatMap(({ nfts, history }) => nfts ?? history ?? []), token].map((item) => item.final);
    };
    await inBlock(id);
    expect(await finals()).to.deep.equal([false, false, false, false, false]);
    const seen: boolean[] = [];
    for (let blocks = 1; blocks <= 2 * CONFIRMATIONS; blocks++) {
      await mine(1);
      await moneta.caughtUp();
      const [first, ...others] = await finals();
      expect(new Set(others)).to.deep.equal(new Set([first]));
      seen.push(first === true);
    }
    // The block of the mint is the first of its confirmations.
    expect(seen.indexOf(true)).to.equal(CONFIRMATIONS - 2);
    expect(seen.slice(CONFIRMATIONS - 2)).not.to.include(false);
  });

  it("given a mint in a block that is dropped before its confirmation depth: rolls it back, rebroadcasts the same transaction, and completes it once", async () => {
    const to = await api.wallet();
    const collection = await newCollection({ mint_supply_count: 2 });
    const before = await snapshot();
    const id = await api.accept("/v1/nfts", { collection_address: collection, to_address: to, name: "One" });
    const seen = await eventually(async () => {
      const found = await request(id);
      return found.nft_token_id === null ? undefined : found;
    });
    expect(seen).to.include({ status: "processing", nft_token_id: 1 });
    const metadata = `${moneta.baseUrl}/metadata/31337/${collection}/1`;
    expect((await fetch(metadata)).headers.get("cache-control")).to.equal("no-store");

    await dropSince(before);
    await eventually(async () => ((await fetch(metadata)).status === 404 ? true : undefined));
    expect(await request(id)).to.include({ status: "processing", nft_token_id: null });
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${to}`)).total).to.equal(0);

    await mineAgain();
    const settled = await final(id);
    expect(settled).to.include({ status: "completed", nft_token_id: 1, transaction_hash: seen.transaction_hash });
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.totalMinted()).to.equal(1n);
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${to}`)).total).to.equal(1);
    expect((await api.ok<{ nfts: object[] }>("GET", `/v1/collections/${collection}`)).nfts).to.have.length(1);
    const { history } = await api.ok<{ history: object[] }>("GET", `/v1/collections/${collection}/1/history`);
    expect(history).to.have.length(1);

    // One mint counts towards the cap: a second one is accepted, a third is refused.
    await final(await api.accept("/v1/nfts", { collection_address: collection, to_address: to }));
    const third = { collection_address: collection, to_address: to };
    expect(await api.refusal("POST", "/v1/nfts", third)).to.equal("422 supply_exceeded");
  });

  describe("given a burn in a block that is dropped before its confirmation depth", () => {
    it("gives the token back, keeps it reserved, and burns it once when the same transaction is mined again", async () => {
      const wallet = await api.wallet();
      const collection = await newCollection();
      const secret = { name: "Box", unlockable_content: "in the attic" };
      await final(await api.accept("/v1/nfts", { collection_address: collection, to_address: wallet, ...secret }));
      const held = () =>
        api.ok<{ nfts: { unlockable_content: string | null }[] }>("GET", `/v1/accounts/${wallet}/${collection}`);
      expect((await held()).nfts.map((nft) => nft.unlockable_content)).to.deep.equal(["in the attic"]);
      const before = await snapshot();
      const token = { from_address: wallet, contract_address: collection, token_id: 1 };
      const id = await api.accept("/v1/burns", token);
      const seen = await inBlock(id);
      expect((await held()).nfts).to.deep.equal([]);

      await dropSince(before);
      await eventually(async () => ((await held()).nfts.length === 1 ? true : undefined));
      expect(await request(id)).to.include({ status: "processing" });
      const moved = { ...token, to_address: outsider.address };
      expect(await api.refusal("POST", "/v1/transfers", moved)).to.equal("422 token_busy");

      await mineAgain();
      expect(await final(id)).to.include({ status: "completed", transaction_hash: seen.transaction_hash });
      expect((await held()).nfts).to.deep.equal([]);
      const contract = ERC721Collection__factory.connect(collection, moneta.provider);
      expect(await contract.totalSupply()).to.equal(0n);
      const { history } = await api.ok<{ history: { type: string }[] }>(
        "GET",
        `/v1/collections/${collection}/1/history`,
      );
      expect(history.map(({ type }) => type)).to.deep.equal(["burn", "mint"]);
    });
  });

  it("given a transfer outside the service that the chain drops: gives the token back to its owner in every listing", async () => {
    const wallet = await api.wallet();
    const collection = await newCollection();
    await final(await api.accept("/v1/nfts", { collection_address: collection, to_address: outsider.address }));
    const before = await snapshot();
    const contract = ERC721Collection__factory.connect(collection, outsider);
    await (await contract.transferFrom(outsider.address, wallet, 1)).wait();
    const owner = async () => (await api.ok<{ owner: string }>("GET", `/v1/collections/${collection}/1`)).owner;
    await eventually(async () => ((await owner()) === wallet ? true : undefined));
    await moneta.provider.send("evm_revert", [before]);
    await mine(2);
    await eventually(async () => ((await owner()) === outsider.address ? true : undefined));
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${wallet}`)).total).to.equal(0);
    expect((await api.ok<{ total: number }>("GET", `/v1/accounts/${wallet}/history`)).total).to.equal(0);
  });

  describe("given a reorganization deeper than the confirmations, while the service is stopped", () => {
    it("keeps the final status, rebroadcasts the transaction, and reports the new token id to the app", async () => {
      const to = await api.wallet();
      const collection = await newCollection();
      const owner = await moneta.provider.getSigner(0);
      const contract = ERC721Collection__factory.connect(collection, owner);
      await (await contract.setMinter(owner.address, true)).wait();
      const before = await snapshot();
      const content = { name: "Mine", unlockable_content: "only for the holder" };
      const mint = { collection_address: collection, to_address: to, ...content };
      const first = await final(await api.accept("/v1/nfts", mint));
      expect(first).to.include({ status: "completed", nft_token_id: 1 });
      await moneta.stop();

      // A reorg drops the mint, and somebody else gets id 1.
      await moneta.provider.send("evm_revert", [before]);
      await (await contract.mint(owner.address)).wait();
      await mine(2 * CONFIRMATIONS);
      await moneta.start();

      await eventually(async () => ((await contract.totalMinted()) === 2n ? true : undefined));
      await mine(CONFIRMATIONS);
      const corrected = await eventually(async () => {
        const feed = await api.ok<Shape<"EventsFeed">>("GET", "/v1/events?limit=30");
        return feed.events.find((event) => event.type === "corrected");
      });
      expect(corrected).to.include({ request_id: first.request_id, nft_token_id: 2 });
      const { transaction_hash } = first;
      expect(await request(first.request_id)).to.include({ status: "completed", nft_token_id: 2, transaction_hash });
      expect(await contract.ownerOf(2)).to.equal(to);
      await moneta.caughtUp();
      const { nfts } = await api.ok<{ nfts: object[] }>("GET", `/v1/accounts/${to}`);
      expect(nfts).to.have.length(1);
      // Content is bound to the request, not to the id.
      expect(nfts[0]).to.deep.include({
        token_id: 2,
        metadata: { name: "Mine" },
        unlockable_content: "only for the holder",
      });
      const metadata = await fetch(`${moneta.baseUrl}/metadata/31337/${collection}/1`);
      expect(metadata.status === 404 || !JSON.stringify(await metadata.json()).includes("Mine")).to.equal(true);
    });
  });

  // The last: the service has another setting afterwards.
  describe("given a restart with a lower CONFIRMATIONS", () => {
    it("completes requests that are deep enough now, although the chain mines no new block", async () => {
      const id = await api.accept("/v1/collections", { type: "ERC721", name: "Test", symbol: "TST" });
      await inBlock(id);
      await moneta.restart({ CONFIRMATIONS: "1" });
      expect((await api.settled(id)).status).to.equal("completed");
    });
  });
});
