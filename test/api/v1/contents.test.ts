import { expect } from "chai";

import { issueToken } from "../../../api/commands/api-tokens.ts";
import { writeMeta } from "../../../api/store/db/meta.ts";
import { recordInspection, leaseContracts } from "../../../api/store/ledger/contract-states.ts";
import { recordForeignHoldings } from "../../../api/store/ledger/follow.ts";
import { startApi } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, addWallet, confirmUpTo } from "../support/api-rows.ts";
import { follow } from "../support/follow.ts";
import { randomAddress } from "../support/rows.ts";

describe("contents of a wallet", () => {
  const api = useApi();
  let wallet: string;
  beforeEach(async () => {
    wallet = await addWallet(api);
    await confirmUpTo(api, 10);
  });

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
    const states = (appId: string) =>
      api.database.read
        .selectFrom("contract_follows")
        .innerJoin("foreign_contracts", "foreign_contracts.address", "contract_follows.address")
        .select(["foreign_contracts.address", "state"])
        .where("app_id", "=", appId)
        .where("ended_at", "is", null)
        .execute();
    const reads = () => api.database.read.selectFrom("contract_reads").select(["contract", "owner"]).execute();

    it("ask no chain: the first call follows the contract, and plans a read", async () => {
      const contract = randomAddress();
      expect(await contents(`/${contract}`)).to.deep.include({ nfts: [], total: 0, as_of_block: null });
      expect(await states(api.app.id)).to.deep.equal([{ address: contract, state: "checking" }]);
      expect(await reads()).to.deep.equal([{ contract, owner: wallet }]);
      await contents(`/${contract}`);
      expect(await reads()).to.have.length(1);
      expect(api.foreign.calls).to.equal(0);
    });

    it("are never followed by a token that may only read: it gets what is stored", async () => {
      const contract = randomAddress();
      const { token } = await issueToken(api, { appId: api.app.id, name: "r", scopes: ["read"], expiresAt: null });
      const read = async () => (await api.get(`/v1/accounts/${wallet}/${contract}`, { token })).body;
      expect(await read()).to.deep.include({ total: 0, as_of_block: null });
      expect([await states(api.app.id), await reads()]).to.deep.equal([[], []]);
      await follow(api.database, { app: api.app.id, address: contract, name: "Elsewhere" });
      await api.database.write((trx) =>
        recordForeignHoldings(trx, [{ contract, tokenId: "1", owner: wallet, quantity: "1" }], 1),
      );
      const { nfts } = await read();
      expect(nfts).to.have.length(1);
      expect(nfts?.[0]).to.deep.equal({
        contract_address: contract,
        collection_name: "Elsewhere",
        type: "ERC721",
        token_id: 1,
        token_uri: null,
        metadata: null,
        minted_at: null,
        final: false,
        unlockable_content: null,
        as_of_block: 0,
      });
    });

    it("say for each token as of which block its balance is known", async () => {
      const contract = await follow(api.database, { app: api.app.id });
      const held = ["1", "2"].map((tokenId) => ({ contract, tokenId, owner: wallet, quantity: "1" }));
      await api.database.write(async (trx) => {
        await recordForeignHoldings(trx, held, 1);
        await writeMeta(trx, "checkpoint", "90");
      });
      const knownAsOf = async () => {
        const { nfts } = await contents(`/${contract}`);
        return nfts?.map((nft) => nft.as_of_block);
      };
      expect(await knownAsOf()).to.deep.equal([90, 90]);
      // A transfer in block 70 was seen, and the balance after it is not read yet.
      const marked = { contract, token_id: "2", owner: wallet, block: 70 };
      await api.database.write((trx) => trx.insertInto("uncertain_holdings").values(marked).execute());
      expect(await knownAsOf()).to.deep.equal([90, 69]);
      // Its events are read no further than to this block.
      const stopAt = (block: number) =>
        api.database.write((trx) =>
          trx.updateTable("foreign_contracts").set({ as_of: block }).where("address", "=", contract).execute(),
        );
      await stopAt(80);
      expect(await knownAsOf()).to.deep.equal([80, 69]);
      await stopAt(60);
      expect(await knownAsOf()).to.deep.equal([60, 60]);
    });

    it("are refused when the service knows that the address is no token contract", async () => {
      const contract = randomAddress();
      await contents(`/${contract}`);
      await api.database.write(async (trx) => {
        const [row] = await leaseContracts(trx, 1);
        if (row !== undefined) await recordInspection(trx, row, null, Date.now());
      });
      const answer = await api.get(`/v1/accounts/${wallet}/${contract}`);
      expectRefusal(answer, 422, "contract_not_supported", { contract_address: "contract_not_supported" });
      // It takes no place of the app's quota.
      expect((await api.get("/v1/contracts")).body.total).to.equal(0);
    });

    it("are refused when the app follows as many contracts as it may", async () => {
      const small = await startApi({ limits: { contracts: 1 } });
      try {
        const own = await addWallet(small);
        expect((await small.get(`/v1/accounts/${own}/${randomAddress()}`)).status).to.equal(200);
        const answer = await small.get(`/v1/accounts/${own}/${randomAddress()}`);
        expectRefusal(answer, 422, "too_many_contracts", { contract_address: "too_many_contracts" });
        // Each app has a quota of its own.
        const { token } = small.other;
        const theirs = await addWallet(small, token);
        expect((await small.get(`/v1/accounts/${theirs}/${randomAddress()}`, { token })).status).to.equal(200);
      } finally {
        await small.close();
      }
    });

    it("of an app that does not follow it are not those of an app that does", async () => {
      const contract = await follow(api.database, { app: api.app.id });
      const theirs = await addWallet(api, api.other.token);
      const { token } = await issueToken(api, { appId: api.other.id, name: "r", scopes: ["read"], expiresAt: null });
      const page = (await api.get(`/v1/accounts/${theirs}/${contract}`, { token })).body;
      expect(page).to.deep.include({ total: 0, as_of_block: null });
      expect(await states(api.other.id)).to.deep.equal([]);
    });
  });
});
