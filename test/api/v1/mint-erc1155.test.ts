import { expect } from "chai";

import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

const MAX_ID = 2n ** 256n - 1n;
const MAX_COPIES = 2n ** 128n - 1n;

describe("POST /v1/nfts, ERC1155", () => {
  const api = useApi({ per: "block" });
  let hosted1155: string;
  let own1155: string;
  const to = randomAddress();
  before(async () => {
    hosted1155 = await addCollection(api, { type: "ERC1155" });
    own1155 = await addCollection(api, { type: "ERC1155", hosting: "self-hosted" });
  });

  const acceptedRow = async (body: object) => storedRequest(api, expectAccepted(await api.post("/v1/nfts", body)));

  let lastId = 1_000n;
  function create(collection: string, fields: object = {}) {
    lastId += 1n;
    return {
      collection_address: collection,
      token_id: lastId.toString(),
      initial_supply: 1,
      initial_owner: to,
      ...fields,
    };
  }

  describe("a new id", () => {
    for (const [title, tokenId] of [
      ["0", "0"],
      ["beyond what a double holds", "9007199254740993"],
      ["of 256 bits", MAX_ID.toString()],
    ] as const) {
      it(`accepts an id ${title}, exactly, as a number or a string`, async () => {
        const body = (collection: string, id: string) =>
          `{"collection_address": "${collection}", "token_id": ${id}, "initial_supply": 5, "initial_owner": "${to}"}`;
        for (const [collection, id] of [
          [own1155, tokenId],
          [hosted1155, `"${tokenId}"`],
        ] as const) {
          const requestId = expectAccepted(await api.call("POST", "/v1/nfts", { raw: body(collection, id) }));
          const request = await api.get(`/v1/requests/${requestId}`);
          expect(String(request.body.nft_token_id)).to.equal(tokenId);
          expect(typeof request.body.nft_token_id).to.equal(tokenId === "0" ? "number" : "string");
          expect(request.body.nft_collection).to.equal(collection);
        }
      });
    }

    it("accepts hosted metadata, or its own uri", async () => {
      const withMetadata = await acceptedRow(create(hosted1155, { name: "Sword {token_id}", unlockable_content: "x" }));
      expect(withMetadata.command).to.deep.include({
        kind: "create-erc1155",
        metadata: { name: "Sword {token_id}" },
        uri: null,
      });
      const withUri = await acceptedRow(create(hosted1155, { uri: "ipfs://sword", unlockable_content: "x" }));
      expect(withUri.command).to.deep.include({ metadata: null, uri: "ipfs://sword", quantity: "1", to });
      const own = await acceptedRow(create(own1155, { uri: "ipfs://own" }));
      expect(own.command).to.deep.include({ metadata: null, uri: "ipfs://own" });
    });

    it("accepts 2^128-1 copies, and not one more", async () => {
      const row = await acceptedRow(create(own1155, { initial_supply: MAX_COPIES.toString() }));
      expect(row.command).to.include({ quantity: MAX_COPIES.toString() });
      const over = create(own1155, { initial_supply: (MAX_COPIES + 1n).toString() });
      expectInvalid(await api.post("/v1/nfts", over), { initial_supply: "too_big" });
    });

    it("refuses an id that exists or is pending", async () => {
      const body = create(hosted1155);
      expectAccepted(await api.post("/v1/nfts", body));
      expectRefusal(await api.post("/v1/nfts", body), 422, "token_already_exists", {
        token_id: "token_already_exists",
      });
      const { total } = (await api.get("/v1/requests")).body;
      await api.post("/v1/nfts", body);
      expect((await api.get("/v1/requests")).body.total).to.equal(total);
    });

    for (const [title, fields, refusal] of [
      [
        "with a uri and metadata",
        { uri: "ipfs://x", name: "n", image: "ipfs://i" },
        { uri: "conflict", name: "conflict", image: "conflict" },
      ],
      [
        "that also asks for more copies",
        { quantity: 1, to_address: to },
        { initial_supply: "conflict", initial_owner: "conflict", quantity: "conflict", to_address: "conflict" },
      ],
      [
        "without an id and an owner",
        { token_id: undefined, initial_owner: undefined },
        { token_id: "required", initial_owner: "required", to_user: "required" },
      ],
      ["for the relay", { initial_owner: RELAY }, { initial_owner: "relay_address" }],
      ["without a supply", { initial_supply: null }, { initial_supply: "required" }],
      ["of no copies", { initial_supply: 0 }, { initial_supply: "too_small" }],
      ["of a negative id", { token_id: -1 }, { token_id: "too_small" }],
      ["of an id over 256 bits", { token_id: (MAX_ID + 1n).toString() }, { token_id: "too_big" }],
      ["of a fractional id", { token_id: 1.5 }, { token_id: "wrong_type" }],
      ["of an id in hex", { token_id: "0x10" }, { token_id: "wrong_type" }],
      ["of an id in words", { token_id: "one" }, { token_id: "wrong_type" }],
      ["of a list of ids", { token_id: [1] }, { token_id: "wrong_type" }],
    ] as const) {
      it(`refuses one ${title}`, async () => {
        expectInvalid(await api.post("/v1/nfts", create(hosted1155, fields)), refusal);
      });
    }

    it("refuses hosted fields in a self-hosted collection", async () => {
      const answer = await api.post("/v1/nfts", create(own1155, { description: "x" }));
      expectRefusal(answer, 422, "wrong_hosting", { description: "wrong_hosting" });
      expect((answer.body as { message: string }).message).to.match(
        /^`description`: The collection is self-hosted: .* Send the mint without this field\./,
      );
    });
  });

  describe("more copies of an id", () => {
    const more = (fields: object = {}) => ({
      collection_address: own1155,
      token_id: 77,
      quantity: 2,
      to_address: to,
      ...fields,
    });
    before(() => addMint(api, { contract: own1155, to, tokenId: 77, quantity: 10, type: "ERC1155", metadata: null }));

    it("accepts more copies", async () => {
      const row = await acceptedRow(more());
      expect(row.command).to.deep.equal({
        kind: "mint-erc1155",
        collection: own1155,
        to,
        tokenId: "77",
        quantity: "2",
      });
      expect(row).to.include({ nft_collection: own1155, nft_token_id: "77" });
    });

    it("refuses an id that does not exist or is pending", async () => {
      expectRefusal(await api.post("/v1/nfts", more({ token_id: 78 })), 422, "token_not_found", {
        token_id: "token_not_found",
      });
      expectAccepted(await api.post("/v1/nfts", create(own1155, { token_id: 79 })));
      expectRefusal(await api.post("/v1/nfts", more({ token_id: 79 })), 422, "token_not_found");
    });

    it("refuses a total above 2^128-1", async () => {
      const answer = await api.post("/v1/nfts", more({ quantity: MAX_COPIES.toString() }));
      expectRefusal(answer, 422, "supply_exceeded", { quantity: "supply_exceeded" });
    });

    for (const [title, fields] of [
      ["without any field of a variant", { token_id: 80 }],
      ["with a destination only", { token_id: 80, to_address: to }],
      ["with metadata", { token_id: 80, to_address: to, name: "Gem" }],
    ] as const) {
      it(`says what a new id needs in the refusal of a mint ${title}`, async () => {
        const answer = await api.post("/v1/nfts", { collection_address: hosted1155, ...fields });
        expectRefusal(answer, 422, "validation_failed");
        expect((answer.body as { message: string }).message).to.match(/A new id needs (token_id, )?initial_supply/);
      });
    }

    for (const [title, fields, refusal] of [
      ["without its fields", { token_id: null, quantity: null }, { token_id: "required", quantity: "required" }],
      ["with metadata", { name: "x", uri: "ipfs://y" }, { name: "not_allowed", uri: "not_allowed" }],
      ["of nothing", { quantity: 0 }, { quantity: "too_small" }],
    ] as const) {
      it(`refuses one ${title}`, async () => {
        expectInvalid(await api.post("/v1/nfts", more(fields)), refusal);
      });
    }
  });
});
