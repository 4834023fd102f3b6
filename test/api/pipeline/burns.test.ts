import { expect } from "chai";
import { type JsonRpcSigner, parseEther } from "ethers";

import type { Shape } from "../../../client/client.ts";
import { ERC1155Collection__factory } from "../../../types/ethers-contracts/factories/ERC1155Collection__factory.ts";
import { ERC721Collection__factory } from "../../../types/ethers-contracts/factories/ERC721Collection__factory.ts";
import { PlainERC1155__factory } from "../../../types/ethers-contracts/factories/mocks/PlainERC1155__factory.ts";
import { YardstickForwardedERC721__factory } from "../../../types/ethers-contracts/factories/mocks/YardstickForwarding.sol/YardstickForwardedERC721__factory.ts";
import { Foreign } from "../../support/foreign.ts";
import { readContract } from "../../support/read-contract.ts";
import { useService } from "../../support/use-service.ts";

const SECRET = "The cat sleeps in the attic.";
/** For a transaction that comes before those of the service in its block. */
const FIRST = { maxFeePerGas: parseEther("0.000001"), maxPriorityFeePerGas: parseEther("0.000001") };

type Held = Shape<"HeldNftsPage">;
type History = Shape<"HistoryPage">;

describe("burning on a real node", () => {
  const moneta = useService();
  const { api } = moneta;
  let outsider: JsonRpcSigner;

  before(async () => {
    outsider = await moneta.provider.getSigner(3);
  });

  const held = (wallet: string) => api.ok<Held>("GET", `/v1/accounts/${wallet}`);
  const historyOf = (contract: string, id: number) =>
    api.ok<History>("GET", `/v1/collections/${contract}/${id}/history`);

  /** Accepts a burn, and mines nothing before it is signed. @param before is sent meanwhile, and comes first in the block. */
  async function burnAfter(token: Record<string, unknown>, before: () => Promise<unknown>): Promise<string> {
    await moneta.provider.send("evm_setAutomine", [false]);
    await before();
    const id = await api.accept("/v1/burns", token);
    await api.processing(id);
    await moneta.provider.send("evm_setAutomine", [true]);
    await moneta.provider.send("evm_mine", []);
    return id;
  }

  it("burns an ERC721 token: it leaves the lists, its secret is shown to nobody, and its history says so", async () => {
    const alice = await api.wallet();
    const collection = await api.collection({ type: "ERC721", mint_supply_count: 1 });
    await api.mint(collection, alice, { name: "Box", unlockable_content: SECRET });
    expect((await held(alice)).nfts.map((nft) => nft.unlockable_content)).to.deep.equal([SECRET]);

    const token = { from_address: alice, contract_address: collection, token_id: 1 };
    const burnt = await api.completed("/v1/burns", { ...token, reference: "order 7" });
    expect(burnt).to.include({ type: "burn", nft_collection: collection, nft_token_id: 1, reference: "order 7" });
    expect(burnt.gas_used).to.be.greaterThan(0);
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect(await contract.totalSupply()).to.equal(0n);

    expect(await held(alice)).to.include({ total: 0 });
    expect((await api.ok<Held>("GET", `/v1/collections/${collection}`)).nfts).to.deep.equal([]);
    const nft = await api.ok<{ owner: string | null }>("GET", `/v1/collections/${collection}/1`);
    expect(nft.owner).to.equal(null);
    expect(JSON.stringify(nft)).to.not.include(SECRET);
    const { history } = await historyOf(collection, 1);
    expect(history.map(({ type }) => type)).to.deep.equal(["burn", "mint"]);
    expect(history[0]).to.include({ to_address: null, request_id: burnt.request_id });
    // The id is gone for ever, and so is its place under the cap.
    const mint = { collection_address: collection, to_address: alice };
    expect(await api.refusal("POST", "/v1/nfts", mint)).to.equal("422 supply_exceeded");
    const moved = { ...token, to_address: await api.wallet() };
    expect(await api.refusal("POST", "/v1/burns", token)).to.equal("422 insufficient_balance");
    expect(await api.refusal("POST", "/v1/transfers", moved)).to.equal("422 insufficient_balance");
  });

  it("burns copies of a soulbound ERC1155 id, until none is left, and mints more of it afterwards", async () => {
    const alice = await api.wallet();
    const collection = await api.collection({ type: "ERC1155", soulbound: true });
    const created = { token_id: 7, initial_supply: 5, initial_owner: alice, name: "Phoenix" };
    await api.completed("/v1/nfts", { collection_address: collection, ...created });
    const token = { from_address: alice, contract_address: collection, token_id: 7 };
    const contract = ERC1155Collection__factory.connect(collection, moneta.provider);
    const listed = async () => (await api.ok<Held>("GET", `/v1/collections/${collection}`)).nfts.length;
    for (const [amount, left] of [
      [2, 3],
      [3, 0],
    ] as const) {
      await api.completed("/v1/burns", { ...token, amount });
      expect(await contract.totalSupply(7)).to.equal(BigInt(left));
      const { nfts } = await held(alice);
      expect(nfts.map(({ quantity }) => Number(quantity))).to.deep.equal(left === 0 ? [] : [left]);
      const { collections } = await api.ok<Shape<"CollectionsPage">>("GET", "/v1/collections");
      expect(Number(collections.find(({ address }) => address === collection)?.copies)).to.equal(left);
    }
    const { history } = await historyOf(collection, 7);
    expect(history.map(({ type, quantity }) => [type, Number(quantity)])).to.deep.equal([
      ["burn", 3],
      ["burn", 2],
      ["mint", 5],
    ]);
    expect(await listed()).to.equal(0);
    const again = { collection_address: collection, ...created };
    expect(await api.refusal("POST", "/v1/nfts", again)).to.equal("422 token_already_exists");
    await api.mint(collection, alice, { token_id: 7, quantity: 4 });
    expect(await listed()).to.equal(1);
    await api.completed("/v1/burns", { ...token, amount: 1 });
    expect((await held(alice)).nfts.map(({ quantity }) => Number(quantity))).to.deep.equal([3]);
  });

  it("burns a batch of tokens in few transactions, beside transfers and mints", async () => {
    const [alice, bob] = [await api.wallet(), await api.wallet()];
    const collection = await api.collection({ type: "ERC721" });
    const mint = { collection_address: collection, to_address: alice };
    const minted = await Promise.all(Array.from({ length: 12 }, () => api.completed("/v1/nfts", mint)));
    const ids = minted.map((request) => Number(request.nft_token_id));
    const items = ids.slice(0, 8).map((token_id) => ({ from_address: alice, contract_address: collection, token_id }));
    const burns = await api.acceptBatch("/v1/burns/batch", items);
    const others = await Promise.all(
      ids.slice(8).map((token_id) => {
        const moved = { from_address: alice, to_address: bob, contract_address: collection, token_id };
        return api.accept("/v1/transfers", moved);
      }),
    );
    const all = [...burns, ...others, await api.accept("/v1/nfts", mint)];
    const settled = await Promise.all(all.map((id) => api.settled(id)));
    expect(settled.map(({ status }) => status)).to.deep.equal(Array(13).fill("completed"));
    expect(await held(alice)).to.include({ total: 1 });
    expect(await held(bob)).to.include({ total: 4 });
    const contract = ERC721Collection__factory.connect(collection, moneta.provider);
    expect([await contract.totalMinted(), await contract.totalSupply()]).to.deep.equal([13n, 5n]);
  });

  it("fails with the contract's reason when the holder moved its token meanwhile", async () => {
    const alice = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    await api.mint(collection, alice);
    const contract = ERC721Collection__factory.connect(collection, await moneta.impersonate(alice));
    const token = { from_address: alice, contract_address: collection, token_id: 1 };
    const id = await burnAfter(token, () => contract.transferFrom(alice, outsider.address, 1, FIRST));
    expect(await api.settled(id)).to.include({ status: "failed", error_code: "insufficient_balance" });
    expect(await contract.ownerOf(1)).to.equal(outsider.address);
  });

  it("fails with nothing_moved when a wallet's delegation runs no code, and burns the token later", async () => {
    const alice = await api.wallet();
    const collection = await api.collection({ type: "ERC721" });
    await api.mint(collection, alice);
    // As in a collection of 0.2.0, which has no signed burns.
    const { database } = moneta.service;
    await database.write((trx) =>
      trx.updateTable("collections").set({ signed_burns: 0 }).where("address", "=", collection).execute(),
    );
    const wallet = await moneta.impersonate(alice);
    await moneta.provider.send("hardhat_setCode", [alice, `0xef0100${"00".repeat(18)}dead`]);
    const token = { from_address: alice, contract_address: collection, token_id: 1 };
    // Its nonce, used outside of the service: the delegation that the service signs is then not valid.
    const id = await burnAfter(token, () => wallet.sendTransaction({ to: outsider.address, ...FIRST }));
    expect(await api.settled(id)).to.include({ status: "failed", error_code: "nothing_moved" });
    expect(await held(alice)).to.include({ total: 1 });
    await api.completed("/v1/burns", token);
    expect(await held(alice)).to.include({ total: 0 });
  });

  it("burns tokens and copies of others through the wallet's delegate, and refuses a contract without the function", async () => {
    const wallet = await api.wallet();
    const { address: erc721 } = await new Foreign(moneta).plain(wallet, 5);
    const copies = await (await new PlainERC1155__factory(outsider).deploy()).waitForDeployment();
    await (await copies.mint(wallet, 6, 10)).wait();
    const erc1155 = await copies.getAddress();
    const body = { from_address: wallet, token_id: 5 };
    await api.completed("/v1/burns", { ...body, contract_address: erc721 });
    await api.completed("/v1/burns", { ...body, contract_address: erc1155, token_id: 6, amount: 4 });
    expect(await copies.balanceOf(wallet, 6)).to.equal(6n);
    const block = await moneta.provider.getBlockNumber();
    const { nfts } = await readContract(api, wallet, erc1155, block);
    expect(nfts.map((nft) => [Number(nft.token_id), Number("quantity" in nft ? nft.quantity : 0)])).to.deep.equal([
      [6, 6],
    ]);
    expect((await readContract(api, wallet, erc721, block)).nfts).to.deep.equal([]);
    const { history } = await api.ok<History>("GET", `/v1/accounts/${wallet}/history`);
    expect(history.map(({ type }) => type).filter((type) => type === "burn")).to.have.length(2);

    const forwarded = await new YardstickForwardedERC721__factory(outsider).deploy(outsider.address);
    await (await forwarded.mint(wallet, 1)).wait();
    const without = { ...body, contract_address: await forwarded.getAddress(), token_id: 1 };
    expect(await api.refusal("POST", "/v1/burns", without)).to.equal("422 contract_not_supported");
  });
});
