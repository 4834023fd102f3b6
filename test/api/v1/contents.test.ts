import { expect } from "chai";

import { type TestApi, startApi } from "../support/api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, addWallet, confirmUpTo } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

describe("contents of a wallet", () => {
  let api: TestApi;
  let wallet: string;
  beforeEach(async () => {
    api = await startApi();
    wallet = await addWallet(api);
    await confirmUpTo(api, 10);
  });
  afterEach(() => api.close());

  const contents = async (path = "") => (await api.get(`/v1/accounts/${wallet}${path}`)).body;

  it("start empty", async () => {
    expect(await contents()).to.deep.equal({ nfts: [], total: 0, limit: 30, offset: 0, next: null });
  });

  it("list the tokens of every collection", async () => {
    const own = await addCollection(api);
    const theirs = await addCollection(api, { app: api.other.id, type: "ERC1155", hosting: "self-hosted" });
    await addMint(api, { contract: own, to: wallet, tokenId: 1, metadata: { name: "#{token_id}" } });
    const huge = 2n ** 200n;
    await addMint(api, { contract: theirs, to: wallet, tokenId: huge, quantity: 4, type: "ERC1155", metadata: null });

    const { nfts, total } = await contents();
    expect(total).to.equal(2);
    expect(nfts?.[0]).to.deep.include({
      contract_address: own,
      collection_name: "Collection",
      type: "ERC721",
      token_id: 1,
      metadata: { name: "#1" },
      unlockable_content: null,
    });
    expect(nfts?.[0]).to.not.have.any.keys("quantity", "owner");
    expect(nfts?.[1]).to.deep.include({
      contract_address: theirs,
      type: "ERC1155",
      token_id: huge.toString(),
      quantity: 4,
      metadata: null,
    });
  });

  it("can be limited to a contract and to a token", async () => {
    const [a, b] = [await addCollection(api), await addCollection(api)];
    for (const tokenId of [1, 2]) await addMint(api, { contract: a, to: wallet, tokenId });
    await addMint(api, { contract: b, to: wallet, tokenId: 1 });
    expect((await contents()).total).to.equal(3);
    expect((await contents(`/${a}`)).nfts?.map((nft) => nft.token_id)).to.deep.equal([1, 2]);
    expect((await contents(`/${a}`)).total).to.equal(2);
    expect(await contents(`/${a.toLowerCase()}/2`)).to.deep.include({ total: 1, next: null });
    expect((await contents(`/${a}/2`)).nfts?.[0]?.token_id).to.equal(2);
    expect(await contents(`/${a}/3`)).to.deep.include({ total: 0, nfts: [] });
    const first = await contents(`/${a}?limit=1`);
    expect((await contents(`/${a}?limit=1&cursor=${first.next ?? ""}`)).nfts?.[0]?.token_id).to.equal(2);
  });

  it("keep large numbers in metadata exact", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: wallet, tokenId: 1 });
    const metadata = '{"attributes":[{"value":123456789012345678901234567890}]}';
    await api.database.write((trx) => trx.updateTable("nfts").set({ metadata }).execute());
    const answer = await api.get(`/v1/accounts/${wallet}`);
    expect(answer.text).to.contain('"value":123456789012345678901234567890');
  });

  it("answer 404 for another app's wallet and for an unknown one", async () => {
    const theirs = await addWallet(api, api.other.token);
    for (const address of [theirs, randomAddress()]) {
      for (const path of ["", `/${randomAddress()}`, `/${randomAddress()}/1`]) {
        expectRefusal(await api.get(`/v1/accounts/${address}${path}`), 404, "not_found");
      }
    }
    expect(api.foreign.calls).to.equal(0);
  });

  it("refuse an invalid contract address or token id", async () => {
    expectInvalid(await api.get(`/v1/accounts/${wallet}/cats`), { contract_address: "invalid_format" });
    expectInvalid(await api.get(`/v1/accounts/${wallet}/${randomAddress()}/x`), { token_id: "wrong_type" });
  });

  describe("unlockable content", () => {
    const secretOf = async (address: string) =>
      (await api.get(`/v1/accounts/${address}`)).body.nfts?.map((nft) => nft.unlockable_content);

    it("is shown to the current holder only", async () => {
      const next = await addWallet(api);
      const contract = await addCollection(api);
      await addMint(api, { contract, to: wallet, tokenId: 1, unlockable: "secret ünlocked", block: 5 });
      expect(await secretOf(wallet)).to.deep.equal(["secret ünlocked"]);
      expect(await secretOf(next)).to.deep.equal([]);
      await addMove(api, { contract, tokenId: 1, from: wallet, to: next, block: 6 });
      expect(await secretOf(wallet)).to.deep.equal([]);
      expect(await secretOf(next)).to.deep.equal(["secret ünlocked"]);
    });

    it("is hidden until the block of the transfer is final", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: wallet, tokenId: 1, unlockable: "secret", block: 11 });
      expect(await secretOf(wallet)).to.deep.equal([null]);
      await confirmUpTo(api, 11);
      expect(await secretOf(wallet)).to.deep.equal(["secret"]);
    });

    it("is shown to every holder of an ERC1155 id", async () => {
      const other = await addWallet(api);
      const contract = await addCollection(api, { type: "ERC1155" });
      await addMint(api, { contract, to: wallet, tokenId: 1, quantity: 2, type: "ERC1155", unlockable: "secret" });
      await addMove(api, { contract, tokenId: 1, from: wallet, to: other });
      expect(await secretOf(wallet)).to.deep.equal(["secret"]);
      expect(await secretOf(other)).to.deep.equal(["secret"]);
    });
  });

  describe("given a foreign contract", () => {
    it("are read from the chain at the first call, and listed from then on", async () => {
      const contract = randomAddress();
      api.foreign.contracts.set(contract, { type: "ERC1155", name: "Elsewhere" });
      api.foreign.give(contract, "1", wallet, 3n);
      api.foreign.give(contract, "2", wallet, 0n);
      api.foreign.give(contract, "3", randomAddress(), 1n);
      expect((await contents()).total).to.equal(0);
      const listed = await contents(`/${contract}`);
      expect(listed.nfts).to.have.length(1);
      expect(listed.nfts?.[0]).to.deep.equal({
        contract_address: contract,
        collection_name: "Elsewhere",
        type: "ERC1155",
        token_id: 1,
        quantity: 3,
        token_uri: null,
        metadata: null,
        minted_at: null,
        unlockable_content: null,
      });
      expect((await contents()).total).to.equal(1);
    });

    it("are found for a second wallet when the contract is already followed", async () => {
      const contract = randomAddress();
      const second = await addWallet(api);
      api.foreign.contracts.set(contract, { type: "ERC721", name: null });
      api.foreign.give(contract, "1", wallet);
      api.foreign.give(contract, "2", second);
      await contents(`/${contract}`);
      expect((await api.get(`/v1/accounts/${second}/${contract}/2`)).body.total).to.equal(1);
    });

    it("need the chain only until the contract is followed", async () => {
      const contract = randomAddress();
      api.foreign.contracts.set(contract, { type: "ERC721", name: null });
      api.foreign.give(contract, "1", wallet);
      api.foreign.down = true;
      expectRefusal(await api.get(`/v1/accounts/${wallet}/${contract}`), 503, "unavailable");
      api.foreign.down = false;
      await contents(`/${contract}`);
      api.foreign.down = true;
      expect((await contents(`/${contract}`)).total).to.equal(1);
    });

    it("are refused when the address is not a token contract", async () => {
      const answer = await api.get(`/v1/accounts/${wallet}/${randomAddress()}`);
      expectRefusal(answer, 422, "contract_not_supported", { contract_address: "contract_not_supported" });
    });
  });
});
