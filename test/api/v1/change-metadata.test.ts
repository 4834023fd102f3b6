import { expect } from "chai";

import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, confirmUpTo } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

const HOLDER = randomAddress();

describe("changing metadata", () => {
  const api = useApi({ per: "block" });
  before(async () => {
    await confirmUpTo(api, 10);
  });

  const patch = (path: string, body: unknown, options: object = {}) =>
    api.call("PATCH", `/v1/collections/${path}`, { body, ...options });
  const published = async (path: string) => (await api.get(`/metadata/31337/${path}`, { token: null })).body;

  describe("PATCH /v1/collections/:address", () => {
    it("changes, adds and removes fields, and announces the change", async () => {
      const contract = await addCollection(api, { metadata: { description: "old", image: "https://a/b.png" } });
      const answer = await patch(contract, { description: "new", image: null, external_link: "https://c" });
      const id = expectAccepted(answer);
      expect(answer.body).to.deep.equal({
        metadata: { description: "new", external_link: "https://c" },
        request_id: id,
      });
      expect(await published(contract)).to.deep.equal({
        name: "Collection",
        symbol: "COL",
        description: "new",
        external_link: "https://c",
      });
      const request = await storedRequest(api, id);
      expect(request.command).to.deep.equal({
        kind: "announce-metadata",
        type: "ERC721",
        collection: contract,
        tokenId: null,
      });
      expect((await api.get(`/v1/requests/${id}`)).body).to.include({
        type: "metadata",
        status: "pending",
        nft_collection: contract,
      });
      expect(request.ready_at).to.not.equal(null);
    });

    it("removes a field by an empty text, like null", async () => {
      const contract = await addCollection(api, { metadata: { description: "old", image: "https://a/b.png" } });
      expect((await patch(contract, { description: "", image: null })).body).to.deep.include({ metadata: {} });
    });

    it("answers a null request_id and announces nothing when nothing changed", async () => {
      const contract = await addCollection(api, { metadata: { description: "same" } });
      for (const body of [{}, { description: "same" }, { image: null }]) {
        expect((await patch(contract, body)).body).to.deep.equal({
          metadata: { description: "same" },
          request_id: null,
        });
      }
    });

    it("announces nothing when the collection has its own owner", async () => {
      const contract = await addCollection(api, { steward: false });
      expect((await patch(contract, { description: "d" })).body).to.deep.equal({
        metadata: { description: "d" },
        request_id: null,
      });
      expect(await published(contract)).to.include({ description: "d" });
    });

    it("keeps the change when a reorg creates the collection again", async () => {
      const contract = await addCollection(api, { metadata: { description: "old" } });
      await patch(contract, { description: "new" });
      const { request_id: id } = await api.database.read
        .selectFrom("collections")
        .select("request_id")
        .where("address", "=", contract)
        .executeTakeFirstOrThrow();
      expect((await storedRequest(api, id ?? "")).command).to.deep.include({
        metadata: { description: "new" },
        name: "Collection",
      });
    });

    it("refuses fields and collections that cannot be changed", async () => {
      const contract = await addCollection(api);
      expectInvalid(await patch(contract, { name: "x", description: 1 }), {
        name: "unknown_field",
        description: "wrong_type",
      });
      expectInvalid(await patch(contract, { seller_fee_basis_points: 10_001 }), { seller_fee_basis_points: "too_big" });
      expectInvalid(await patch(contract, { seller_fee_basis_points: 100 }), { fee_recipient: "required" });
      const fee = { seller_fee_basis_points: 100, fee_recipient: RELAY.toLowerCase() };
      expectInvalid(await patch(contract, fee), { fee_recipient: "relay_address" });
      const own = await patch(await addCollection(api, { hosting: "self-hosted" }), {});
      expectRefusal(own, 422, "wrong_hosting", { address: "wrong_hosting" });
      expect(own.text).to.contain("The collection is self-hosted").and.to.contain("Change the files at its base_uri");
      expectRefusal(await patch(randomAddress(), {}), 404, "not_found");
      expectRefusal(await patch(contract, {}, { token: api.other.token }), 404, "not_found");
    });
  });

  describe("PATCH /v1/collections/:address/:token_id", () => {
    it("changes a token, replaces {token_id}, and announces the change", async () => {
      const contract = await addCollection(api, { type: "ERC1155" });
      const tokenId = 2n ** 256n - 1n;
      const metadata = { name: "Cat {token_id}", image: "https://a/b.png", attributes: [{ value: 1 }] };
      await addMint(api, { contract, to: HOLDER, tokenId, type: "ERC1155", metadata });
      const answer = await patch(`${contract}/${tokenId.toString()}`, {
        description: "No. {token_id}",
        image: null,
        attributes: [],
      });
      const expected = { name: `Cat ${tokenId.toString()}`, attributes: [], description: `No. ${tokenId.toString()}` };
      expect(answer.body).to.deep.equal({ metadata: expected, request_id: expectAccepted(answer) });
      expect(await published(`${contract}/${tokenId.toString()}`)).to.deep.equal(expected);
      expect((await storedRequest(api, expectAccepted(answer))).command).to.deep.include({
        tokenId: tokenId.toString(),
      });
    });

    it("keeps old and new numbers exact beyond 2^53-1", async () => {
      const contract = await addCollection(api);
      const digits = "123456789012345678901234567890";
      await addMint(api, { contract, to: HOLDER, tokenId: 1 });
      await patch(`${contract}/1`, undefined, { raw: `{"attributes":[{"value":${digits}}]}` });
      await patch(`${contract}/1`, { name: "x" });
      expect((await api.get(`/metadata/31337/${contract}/1`, { token: null })).text).to.contain(`"value":${digits}`);
    });

    it("refuses to make metadata larger than the limit, but not to make stored metadata smaller", async () => {
      const contract = await addCollection(api);
      const large = (length: number) => ({ attributes: [{ value: "x".repeat(length) }] });
      await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: large(200_000) });
      await addMint(api, { contract, to: HOLDER, tokenId: 2 });
      expectInvalid(await patch(`${contract}/2`, large(70_000)), { attributes: "too_long" });
      expectInvalid(await patch(`${contract}/1`, large(200_001)), { attributes: "too_long" });
      expect((await patch(`${contract}/1`, large(150_000))).status).to.equal(200);
      expect(await published(`${contract}/1`)).to.deep.equal(large(150_000));
    });

    it("refuses tokens that do not exist or have no hosted metadata", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: HOLDER, tokenId: 1 });
      await addMint(api, { contract, to: HOLDER, tokenId: 2, metadata: null });
      await addMove(api, { contract, tokenId: 1, from: HOLDER, to: null });
      for (const id of ["1", "3"]) expectRefusal(await patch(`${contract}/${id}`, { name: "x" }), 404, "not_found");
      expectRefusal(await patch(`${contract}/2`, { name: "x" }), 422, "wrong_hosting", { token_id: "wrong_hosting" });
      expectInvalid(await patch(`${contract}/1`, { token_id: 4 }), { token_id: "unknown_field" });
    });
  });

  describe("POST /v1/collections/:address/freeze", () => {
    const freeze = (address: string, options: object = {}) =>
      api.post(`/v1/collections/${address}/freeze`, {}, options);

    it("allows no change and no new hosted metadata afterwards", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: HOLDER, tokenId: 1 });
      const id = expectAccepted(await freeze(contract));
      expect((await api.get(`/v1/requests/${id}`)).body).to.include({ type: "freeze", status: "pending" });
      // No relayer may claim it before the directory is stored.
      expect((await storedRequest(api, id)).ready_at).to.equal(null);
      for (const answer of [
        await freeze(contract),
        await patch(contract, { description: "x" }),
        await patch(`${contract}/1`, { name: "x" }),
        await api.post("/v1/nfts", { collection_address: contract, to_address: HOLDER }),
      ]) {
        expectRefusal(answer, 422, "metadata_frozen");
      }
    });

    it("still allows more copies of an ERC1155 id, and new ids with their own URI", async () => {
      const contract = await addCollection(api, { type: "ERC1155" });
      await addMint(api, { contract, to: HOLDER, tokenId: 1, type: "ERC1155" });
      expectAccepted(await freeze(contract));
      const create = { collection_address: contract, initial_owner: HOLDER, initial_supply: 1 };
      expectAccepted(
        await api.post("/v1/nfts", { collection_address: contract, token_id: 1, quantity: 1, to_address: HOLDER }),
      );
      expectAccepted(await api.post("/v1/nfts", { ...create, token_id: 2, uri: "ipfs://x" }));
      expectRefusal(await api.post("/v1/nfts", { ...create, token_id: 3 }), 422, "metadata_frozen");
    });

    it("accepts one of many simultaneous calls", async () => {
      const contract = await addCollection(api);
      const answers = await Promise.all(Array.from({ length: 10 }, () => freeze(contract)));
      expect(answers.map((answer) => answer.status).sort()).to.deep.equal([200, ...Array<number>(9).fill(422)]);
    });

    it("refuses collections that the service does not host or may not freeze", async () => {
      for (const [options, reason] of [
        [{ hosting: "self-hosted" as const }, "The collection is self-hosted"],
        [{ steward: false }, "The collection has its own owner"],
        [{ baseUri: "ipfs://owners/" }, "The collection was hosted, but its owner has replaced the base URI."],
      ] as const) {
        const answer = await freeze(await addCollection(api, options));
        expectRefusal(answer, 422, "wrong_hosting", { address: "wrong_hosting" });
        expect((answer.body as { message: string }).message).to.contain(reason);
      }
      expectRefusal(await freeze(randomAddress()), 404, "not_found");
      expectRefusal(await freeze(await addCollection(api), { token: api.other.token }), 404, "not_found");
    });
  });
});
