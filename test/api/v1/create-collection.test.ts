import { expect } from "chai";

import { measurementFromSlotPrice, UNMEASURED_GAS } from "../../../api/domain/gas-estimate.ts";
import { writeGasMeasurement } from "../../../api/store/requests/gas-measurement.ts";
import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

const HOSTED = { type: "ERC721", name: "Cats", symbol: "CAT" };
const SELF_HOSTED = { ...HOSTED, base_uri: "ipfs://cats/" };

describe("POST /v1/collections", () => {
  const api = useApi({ per: "block" });

  async function commandOf(body: object) {
    const row = await storedRequest(api, expectAccepted(await api.post("/v1/collections", body)));
    expect(row).to.include({ type: "collection", status: "pending", app_id: api.app.id, nft_collection: null });
    // Due at any time.
    expect(row.ready_at).to.equal(0);
    return row.command;
  }

  it("takes empty texts of optional fields as left out", async () => {
    const empty = {
      base_uri: "",
      collection_uri: "",
      new_owner: "",
      description: "",
      image: "",
      mint_supply_count: "",
      reference: "",
    };
    expect(await commandOf({ ...HOSTED, ...empty })).to.deep.equal(await commandOf(HOSTED));
  });

  it("stores the pictures and collaborators of ERC-7572", async () => {
    const metadata = {
      banner_image: "https://cats.example/wide.png",
      featured_image: "ipfs://bafybeicats/featured.png",
      collaborators: [randomAddress(), randomAddress()],
    };
    expect(await commandOf({ ...HOSTED, ...metadata })).to.deep.include({ metadata });
  });

  describe("given texts that need more gas than a transaction of the chain has", () => {
    const uri = (characters: number) => `ipfs://${"ü".repeat(characters - 7)}`;
    const body = { ...SELF_HOSTED, base_uri: `${uri(1_999)}/`, collection_uri: uri(2_048) };
    const bytes = 7 + 2 * (2_041 - 49) + 1 + 7 + 2 * 2_041 + 7;

    it("refuses them with the number of bytes, and accepts them where code costs less", async () => {
      await api.database.write((trx) => writeGasMeasurement(trx, measurementFromSlotPrice(108_000), null));
      const answer = await api.post("/v1/collections", body);
      expectInvalid(answer, { collection_uri: "too_long" });
      expect(answer.text).to.match(
        new RegExp(`have ${bytes.toString()} bytes together\\. A new collection on this chain can have \\d+:`),
      );
      await api.database.write((trx) => writeGasMeasurement(trx, UNMEASURED_GAS, null));
      expectAccepted(await api.post("/v1/collections", body));
    });
  });

  it("accepts a hosted collection and notifies the relayer", async () => {
    const before = api.notified;
    const recipient = randomAddress();
    const owner = randomAddress();
    const command = await commandOf({
      ...HOSTED,
      mint_supply_count: 100,
      description: "All cats",
      image: "https://cats.example/logo.png",
      external_link: "https://cats.example",
      seller_fee_basis_points: 250,
      fee_recipient: recipient.toLowerCase(),
      new_owner: owner.toLowerCase(),
    });
    expect(command).to.deep.equal({
      kind: "create-collection",
      type: "ERC721",
      hosting: "hosted",
      name: "Cats",
      symbol: "CAT",
      maxSupply: 100,
      baseUri: null,
      collectionUri: null,
      metadata: {
        description: "All cats",
        image: "https://cats.example/logo.png",
        external_link: "https://cats.example",
        seller_fee_basis_points: 250,
        fee_recipient: recipient,
      },
      newOwner: owner,
      soulbound: false,
    });
    expect(api.notified).to.equal(before + 1);
  });

  it("accepts a soulbound collection of either type", async () => {
    expect(await commandOf({ ...HOSTED, soulbound: true })).to.include({ soulbound: true });
    expect(await commandOf({ ...HOSTED, type: "ERC1155", soulbound: true })).to.include({ soulbound: true });
    expect(await commandOf({ ...HOSTED, soulbound: null })).to.include({ soulbound: false });
  });

  it("accepts a self-hosted collection, with or without a collection_uri", async () => {
    const command = await commandOf({ ...SELF_HOSTED, collection_uri: "ipfs://cats/collection.json" });
    expect(command).to.deep.include({
      hosting: "self-hosted",
      baseUri: "ipfs://cats/",
      collectionUri: "ipfs://cats/collection.json",
      metadata: {},
    });
    expect(await commandOf(SELF_HOSTED)).to.include({ collectionUri: null });
  });

  it("accepts both names of the cap, and ignores it for 0 and for ERC1155", async () => {
    expect(await commandOf({ ...SELF_HOSTED, mint_supply_account: 5 })).to.include({ maxSupply: 5 });
    expect(await commandOf({ ...HOSTED, mint_supply_count: "7", mint_supply_account: 7 })).to.include({
      maxSupply: 7,
    });
    expect(await commandOf({ ...HOSTED, mint_supply_count: 0 })).to.include({ maxSupply: null });
    expect(await commandOf(HOSTED)).to.include({ maxSupply: null });
    expect(await commandOf({ ...HOSTED, type: "ERC1155", mint_supply_count: 9 })).to.include({ maxSupply: null });
  });

  it("treats null as left out", async () => {
    expect(await commandOf({ ...HOSTED, base_uri: null, collection_uri: null, image: null })).to.include({
      hosting: "hosted",
    });
  });

  for (const [title, body, fields] of [
    ["without its required fields", {}, { type: "required", name: "required", symbol: "required" }],
    [
      "with nulls in their place",
      { type: null, name: null, symbol: null },
      { type: "required", name: "required", symbol: "required" },
    ],
    ["with another type", { ...HOSTED, type: "ERC20" }, { type: "invalid" }],
    ["with an empty name", { ...HOSTED, name: "" }, { name: "too_short" }],
    [
      "with a long name and symbol",
      { ...HOSTED, name: "x".repeat(257), symbol: "x".repeat(33) },
      { name: "too_long", symbol: "too_long" },
    ],
    [
      "with two different caps",
      { ...HOSTED, mint_supply_count: 1, mint_supply_account: 2 },
      { mint_supply_account: "conflict" },
    ],
    ["with a negative cap", { ...HOSTED, mint_supply_count: -1 }, { mint_supply_count: "too_small" }],
    ["with half a token as cap", { ...HOSTED, mint_supply_count: 0.5 }, { mint_supply_count: "wrong_type" }],
    [
      "with a fee over 100 %",
      { ...HOSTED, seller_fee_basis_points: 10_001, fee_recipient: randomAddress() },
      { seller_fee_basis_points: "too_big" },
    ],
    ["with a fee for nobody", { ...HOSTED, seller_fee_basis_points: 1 }, { fee_recipient: "required" }],
    ["with text for soulbound", { ...HOSTED, soulbound: "yes" }, { soulbound: "wrong_type" }],
    [
      "owned by the relay, or with a fee for it",
      { ...HOSTED, new_owner: RELAY, seller_fee_basis_points: 1, fee_recipient: RELAY.toLowerCase() },
      { new_owner: "relay_address", fee_recipient: "relay_address" },
    ],
    ["owned by the zero address", { ...HOSTED, new_owner: `0x${"0".repeat(40)}` }, { new_owner: "zero_address" }],
    [
      "self-hosted with hosted fields",
      { ...SELF_HOSTED, image: "ipfs://x", fee_recipient: randomAddress() },
      { image: "conflict", fee_recipient: "conflict" },
    ],
    ["with collection_uri but no base_uri", { ...HOSTED, collection_uri: "ipfs://c" }, { base_uri: "required" }],
    ["self-hosted ERC1155 without {id}", { ...SELF_HOSTED, type: "ERC1155" }, { base_uri: "invalid_format" }],
    [
      "self-hosted ERC721 with {id}",
      { ...SELF_HOSTED, base_uri: "https://cats.example/{id}.json" },
      { base_uri: "invalid_format" },
    ],
    [
      "self-hosted ERC721 whose base_uri is a CID alone",
      { ...SELF_HOSTED, base_uri: "ipfs://bafybeicats" },
      { base_uri: "invalid_format" },
    ],
    [
      "self-hosted ERC721 whose base_uri is a CID behind ipfs://ipfs/",
      { ...SELF_HOSTED, base_uri: "ipfs://ipfs/bafybeicats" },
      { base_uri: "invalid_format" },
    ],
    [
      "self-hosted ERC721 whose base_uri is a transaction of Arweave alone",
      { ...SELF_HOSTED, base_uri: "ar://tx_" },
      { base_uri: "invalid_format" },
    ],
    ["whose name is only white space", { ...HOSTED, name: " \t\u00a0" }, { name: "too_short" }],
    ["whose name nobody can see", { ...HOSTED, name: "\u200b\u2060\u3164\u2800 " }, { name: "too_short" }],
    ["whose symbol is only white space", { ...HOSTED, symbol: " " }, { symbol: "too_short" }],
    ["without a name", { ...HOSTED, name: "" }, { name: "too_short" }],
    [
      "with a collaborator that is not an address",
      { ...HOSTED, collaborators: ["me"] },
      { "collaborators.0": "invalid_format" },
    ],
    ["with a long URI", { ...HOSTED, base_uri: `https://${"x".repeat(2_049)}` }, { base_uri: "too_long" }],
    ["with unknown fields", { ...HOSTED, supply: 1 }, { supply: "unknown_field" }],
  ] as const) {
    it(`refuses one ${title}`, async () => {
      expectInvalid(await api.post("/v1/collections", body), fields);
    });
  }
});
