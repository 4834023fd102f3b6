import { expect } from "chai";

import { useApi } from "../support/use-api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

describe("collections", () => {
  const api = useApi({ per: "block" });

  describe("GET /v1/collections", () => {
    const fresh = useApi({ per: "block" });

    it("lists only this app's completed collections", async () => {
      const recipient = randomAddress();
      const hosted = await addCollection(fresh, {
        cap: 10,
        metadata: { description: "d", seller_fee_basis_points: 5, fee_recipient: recipient },
      });
      const selfHosted = await addCollection(fresh, { type: "ERC1155", hosting: "self-hosted", name: "Own" });
      await addCollection(fresh, { listed: false });
      await addCollection(fresh, { app: fresh.other.id });

      const { body } = await fresh.get("/v1/collections");
      expect(body).to.include({ total: 2, next: null });
      expect(body.collections).to.have.length(2);
      expect(body.collections?.[0]).to.deep.include({
        address: hosted,
        type: "ERC721",
        hosting: "hosted",
        mint_supply_count: 10,
        soulbound: false,
        minted: 0,
        collection_uri: `https://nft.example/metadata/31337/${hosted}`,
        description: "d",
        image: null,
        external_link: null,
        seller_fee_basis_points: 5,
        fee_recipient: recipient,
        created_at: "2023-11-14T22:13:20.000Z",
      });
      expect(body.collections?.[0]).to.not.have.property("base_uri");
      expect(body.collections?.[1]).to.deep.include({
        address: selfHosted,
        name: "Own",
        hosting: "self-hosted",
        mint_supply_count: null,
        collection_uri: null,
        base_uri: "ipfs://base/{id}.json",
      });
      expect(body.collections?.[1]).to.not.have.property("description");
    });
  });

  describe("GET /v1/collections?addresses", () => {
    it("shows the app's completed collections among the addresses", async () => {
      const wanted = [await addCollection(api), await addCollection(api)];
      const hidden = [await addCollection(api, { listed: false }), await addCollection(api, { app: api.other.id })];
      const { body } = await api.get(`/v1/collections?addresses=${[...wanted, ...hidden].join(",")}`);
      expect(body.collections?.map(({ address }) => address)).to.deep.equal(wanted);
      expect(body).to.include({ total: 2, next: null });
      expectInvalid(await api.get(`/v1/collections?addresses=${wanted.join(",")}&cursor=x`), {
        cursor: "invalid_format",
      });
    });
  });

  describe("GET /v1/collections?search", () => {
    it("finds the app's completed collections by how their name or symbol begins, each once", async () => {
      const named = await addCollection(api, { name: "Meerkats", symbol: "KAT" });
      const marked = await addCollection(api, { name: "Others", symbol: "MEER" });
      const both = await addCollection(api, { name: "MEER two", symbol: "meer2" });
      await addCollection(api, { name: "A meerkat", symbol: "AM" });
      await addCollection(api, { name: "Meerkats", listed: false });
      await addCollection(api, { name: "Meerkats", app: api.other.id });
      const found = async (query: string) => {
        const { body } = await api.get(`/v1/collections?search=${query}`);
        return body.collections?.map(({ address }) => address);
      };
      expect(await found("mEEr")).to.deep.equal([named, marked, both]);
      expect(await found("meerk")).to.deep.equal([named]);
      expect(await found("meer&limit=1")).to.have.length(1);
      expect(await found("meer%25")).to.deep.equal([]);
    });

    it("keeps names that are longer than what an index of PostgreSQL holds", async () => {
      const name = `Long ${"\u{1F600}".repeat(3_000)}`;
      const address = await addCollection(api, { name });
      const { body } = await api.get(`/v1/collections?search=${encodeURIComponent("long \u{1F600}")}`);
      expect(body.collections).to.have.length(1);
      expect(body.collections?.[0]).to.include({ address, name });
    });
  });

  describe("GET /v1/collections/:address", () => {
    it("lists the tokens of an ERC721 collection with their owners, without burnt ones", async () => {
      const contract = await addCollection(api);
      const [alice, bob] = [randomAddress(), randomAddress()];
      await addMint(api, {
        contract,
        to: alice,
        tokenId: 1,
        metadata: { name: "Cat {token_id}", description: "{token_id}/{token_id}", image: "{token_id}" },
      });
      await addMint(api, { contract, to: alice, tokenId: 2, unlockable: "secret" });
      await addMint(api, { contract, to: alice, tokenId: 3 });
      await addMove(api, { contract, tokenId: 2, from: alice, to: bob });
      await addMove(api, { contract, tokenId: 3, from: alice, to: null });

      const { body, text } = await api.get(`/v1/collections/${contract}`);
      expect(body.total).to.equal(2);
      const listed = await api.get(`/v1/collections?addresses=${contract}`);
      expect(body.collection).to.deep.equal(listed.body.collections?.[0]);
      expect(body.nfts?.[0]).to.deep.include({
        contract_address: contract,
        collection_name: "Collection",
        type: "ERC721",
        token_id: 1,
        owner: alice,
        token_uri: `https://nft.example/metadata/31337/${contract}/1`,
        metadata: { name: "Cat 1", description: "1/1", image: "{token_id}" },
      });
      expect(body.nfts?.[0]?.minted_at).to.match(/^2023-11-14T22:13:20\.\d{3}Z$/);
      expect(body.nfts?.[0]).to.not.have.property("quantity");
      expect(body.nfts?.[1]).to.include({ token_id: 2, owner: bob });
      expect(text).to.not.contain("secret").and.to.not.contain("unlockable");
    });

    it("lists the ids of a self-hosted ERC1155 collection with their quantities", async () => {
      const contract = await addCollection(api, { type: "ERC1155", hosting: "self-hosted" });
      const huge = 2n ** 256n - 1n;
      const mint = { contract, type: "ERC1155", metadata: null } as const;
      await addMint(api, { ...mint, to: randomAddress(), tokenId: huge, quantity: 2n ** 127n });
      await addMint(api, { ...mint, to: randomAddress(), tokenId: 10, quantity: 3, tokenUri: "ipfs://own" });
      await addMint(api, { ...mint, to: randomAddress(), tokenId: 10, quantity: 4 });

      const { body } = await api.get(`/v1/collections/${contract}`);
      expect(body.nfts?.[0]).to.deep.include({
        token_id: huge.toString(),
        quantity: (2n ** 127n).toString(),
        token_uri: `ipfs://base/${"f".repeat(64)}.json`,
        metadata: null,
      });
      expect(body.nfts?.[0]).to.not.have.property("owner");
      expect(body.nfts?.[1]).to.include({ token_id: 10, quantity: 7, token_uri: "ipfs://own" });
    });

    it("answers 404 for an unlisted collection, another app's, and an unknown one", async () => {
      for (const address of [
        await addCollection(api, { listed: false }),
        await addCollection(api, { app: api.other.id }),
        randomAddress(),
      ]) {
        expectRefusal(await api.get(`/v1/collections/${address}`), 404, "not_found");
        expectRefusal(await api.get(`/v1/collections/${address}/1`), 404, "not_found");
        expectRefusal(await api.get(`/v1/collections/${address}/1/history`), 404, "not_found");
      }
    });
  });

  describe("GET /v1/collections/:address/:token_id", () => {
    it("shows a burnt token without an owner, and nobody its unlockable content", async () => {
      const contract = await addCollection(api);
      const owner = await addWallet(api);
      await addMint(api, { contract, to: owner, tokenId: 1, unlockable: "secret", metadata: { name: "Ash" } });
      await addMove(api, { contract, tokenId: 1, from: owner, to: null });
      const { body, text } = await api.get(`/v1/collections/${contract}/1`);
      expect(body).to.deep.include({ token_id: 1, owner: null, type: "ERC721", metadata: { name: "Ash" } });
      const held = await api.get(`/v1/accounts/${owner}`);
      expect(held.body.total).to.equal(0);
      for (const answer of [text, held.text]) expect(answer).to.not.contain("secret");
      // An id whose mint is not on chain yet is still unknown.
      expectRefusal(await api.get(`/v1/collections/${contract}/2`), 404, "not_found");

      const copies = await addCollection(api, { type: "ERC1155" });
      await addMint(api, { contract: copies, to: owner, tokenId: 3, quantity: 2, type: "ERC1155" });
      await addMove(api, { contract: copies, tokenId: 3, from: owner, to: null, quantity: 2 });
      const id = await api.get(`/v1/collections/${copies}/3`);
      expect(id.body).to.deep.include({ token_id: 3, quantity: 0, owners: [], total: 0 });
    });

    it("shows an ERC1155 token with a page of its owners", async () => {
      const contract = await addCollection(api, { type: "ERC1155" });
      const owners = [randomAddress(), randomAddress(), randomAddress()];
      const tokenId = 2n ** 255n;
      for (const to of owners) await addMint(api, { contract, to, tokenId, quantity: 2, type: "ERC1155" });
      const first = await api.get(`/v1/collections/${contract}/${tokenId.toString()}?limit=2`);
      expect(first.body).to.include({ token_id: tokenId.toString(), quantity: 6, total: 3, limit: 2, offset: 0 });
      expect(first.body.token_uri).to.equal(`https://nft.example/metadata/31337/${contract}/8${"0".repeat(63)}`);
      expect(first.body.owners).to.deep.equal(
        owners.slice(0, 2).map((address) => ({ address, quantity: 2, final: false })),
      );
      const next = first.body.next ?? "";
      const second = await api.get(`/v1/collections/${contract}/${tokenId.toString()}?limit=2&cursor=${next}`);
      expect(second.body.owners).to.deep.equal([{ address: owners[2], quantity: 2, final: false }]);
    });

    it("refuses an invalid token id", async () => {
      const contract = await addCollection(api);
      expectInvalid(await api.get(`/v1/collections/${contract}/one`), { token_id: "wrong_type" });
      expectInvalid(await api.get(`/v1/collections/${contract}/${(2n ** 256n).toString()}`), { token_id: "too_big" });
      expectRefusal(await api.get(`/v1/collections/${contract}/1`), 404, "not_found");
    });
  });
});
