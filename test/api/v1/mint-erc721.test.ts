import { expect } from "chai";

import { sealedPlace } from "../../../api/keys/sealer.ts";
import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

describe("POST /v1/nfts, ERC721", () => {
  const api = useApi({ per: "block" });
  let hosted721: string;
  let own721: string;
  const to = randomAddress();
  before(async () => {
    hosted721 = await addCollection(api);
    own721 = await addCollection(api, { hosting: "self-hosted" });
  });

  const acceptedRow = async (body: object) => storedRequest(api, expectAccepted(await api.post("/v1/nfts", body)));

  describe("hosted", () => {
    it("accepts every metadata field", async () => {
      const metadata = {
        name: "Cat {token_id}",
        description: "A cat",
        image: "ipfs://image",
        external_url: "https://cats.example/{token_id}",
        attributes: [{ trait_type: "Colour", value: "black" }, { display_type: "number", value: 3 }, "plain"],
        background_color: "ffffff",
        animation_url: "https://cats.example/a.mp4",
        youtube_url: "https://youtu.be/cat",
        image_data: "<svg xmlns='http://www.w3.org/2000/svg'/>",
        properties: { fur: { value: "black", levels: [1, 2] } },
        localization: { uri: "ipfs://cats/{locale}.json", default: "en", locales: ["en", "fr"] },
      };
      const row = await acceptedRow({
        collection_address: hosted721.toLowerCase(),
        to_address: to.toLowerCase(),
        ...metadata,
        copy_media: false,
      });
      expect(row).to.include({ type: "mint", nft_collection: hosted721, nft_token_id: null, unlockable: null });
      const stored = { ...metadata, fills_uris: true };
      expect(row.command).to.deep.equal({ kind: "mint-erc721", collection: hosted721, to, metadata: stored });
    });

    for (const [given, stored] of [
      ["#ffffff", "ffffff"],
      ["FFF", "FFFFFF"],
      ["#1a2", "11aa22"],
      ["00Ff00", "00Ff00"],
    ] as const) {
      it(`stores the background colour ${given} as ${stored}`, async () => {
        const row = await acceptedRow({ collection_address: hosted721, to_address: to, background_color: given });
        expect(row.command).to.deep.include({ metadata: { background_color: stored } });
      });
    }

    for (const color of ["rebeccapurple", "#ffff", "ffffff00", "##fff", "0xffffff", " ffffff"]) {
      it(`refuses the background colour ${color}`, async () => {
        const body = { collection_address: hosted721, to_address: to, background_color: color };
        expectInvalid(await api.post("/v1/nfts", body), { background_color: "invalid_format" });
      });
    }

    it("takes empty texts of optional fields as left out", async () => {
      const empty = {
        name: "",
        description: "",
        image: "",
        external_url: "",
        background_color: "",
        token_id: "",
        reference: "",
        to_user: "",
        attributes: "",
        unlockable_content: "",
      };
      const row = await acceptedRow({ collection_address: hosted721, to_address: to, ...empty });
      expect(row).to.include({ reference: null, unlockable: null });
      expect(row.command).to.deep.include({ to, metadata: {} });
    });

    it("refuses decimals, and properties that are nested too deep or not an object", async () => {
      const body = { collection_address: hosted721, to_address: to };
      expectRefusal(await api.post("/v1/nfts", { ...body, decimals: 2 }), 422, "wrong_collection_type");
      const deep = JSON.parse(`${'{"a":'.repeat(40)}1${"}".repeat(40)}`) as object;
      expectInvalid(await api.post("/v1/nfts", { ...body, properties: deep }), { properties: "too_deep" });
      expectInvalid(await api.post("/v1/nfts", { ...body, localization: [1] }), { localization: "wrong_type" });
    });

    it("keeps large numbers in attributes exact", async () => {
      const attributes = '[{"value": 123456789012345678901234567890, "other": 1e99}]';
      const raw = `{"collection_address": "${hosted721}", "to_address": "${to}", "attributes": ${attributes}}`;
      const id = expectAccepted(await api.call("POST", "/v1/nfts", { raw }));
      const row = await api.database.read
        .selectFrom("requests")
        .select("command")
        .where("id", "=", id)
        .executeTakeFirstOrThrow();
      expect(row.command).to.contain('{"value":123456789012345678901234567890,"other":1e+99}');
    });

    for (const number of [
      "1e999",
      "-1e999999999",
      "9".repeat(79),
      `0.${"1".repeat(100_000)}`,
      `-${"9".repeat(100_000)}`,
    ]) {
      it(`refuses the number ${number.slice(0, 20)} in attributes`, async () => {
        const attributes = `[{"value": {"deep": [${number}]}}]`;
        const raw = `{"collection_address": "${hosted721}", "to_address": "${to}", "attributes": ${attributes}}`;
        expectInvalid(await api.call("POST", "/v1/nfts", { raw }), { attributes: "invalid_format" });
      });
    }

    it("takes as many digits as 2^256 has", async () => {
      const raw = `{"collection_address": "${hosted721}", "to_address": "${to}", "attributes": [{"value": ${(2n ** 256n).toString()}}]}`;
      expectAccepted(await api.call("POST", "/v1/nfts", { raw }));
    });

    it("takes metadata of exactly the limit in bytes, and refuses one byte more by its largest field", async () => {
      const body = (characters: number) => ({
        collection_address: hosted721,
        to_address: to,
        name: "Cat",
        attributes: [{ value: "ü".repeat(characters / 2) + "x".repeat(characters % 2) }],
      });
      const around = Buffer.byteLength(JSON.stringify({ name: "Cat", attributes: [{ value: "" }] }));
      expectAccepted(await api.post("/v1/nfts", body(65_536 - around)));
      expectInvalid(await api.post("/v1/nfts", body(65_537 - around)), { attributes: "too_long" });
    });

    it("refuses large metadata in a batch by its item, and accepts the others", async () => {
      const item = (value: string) => ({ collection_address: hosted721, to_address: to, attributes: [{ value }] });
      const answer = await api.post("/v1/nfts/batch", { items: [item("x".repeat(70_000)), item("x")] });
      const { results } = JSON.parse(answer.text) as { results: { request_id?: string; error_code?: string }[] };
      expect(results[0]).to.deep.include({ error_code: "validation_failed" });
      expect(results[1]?.request_id).to.be.a("string");
    });

    it("encrypts unlockable content before it is stored, and keeps it out of the log", async () => {
      const secret = "the treasure is under the old oak";
      const row = await acceptedRow({ collection_address: hosted721, to_address: to, unlockable_content: secret });
      expect(row.unlockable).to.be.a("string").that.does.not.contain("treasure");
      const opened = await api.sealer.open(row.unlockable ?? "", sealedPlace("unlockable", row.id), () =>
        Promise.resolve(false),
      );
      expect(opened).to.equal(secret);
      expect(JSON.stringify(row.command) + api.log.join("")).to.not.contain("treasure");
    });

    for (const [title, fields, refusal] of [
      ["without a destination", { to_address: undefined }, { to_address: "required", to_user: "required" }],
      ["to the relay", { to_address: RELAY }, { to_address: "relay_address" }],
      ["to the zero address", { to_address: `0x${"0".repeat(40)}` }, { to_address: "zero_address" }],
      [
        "with a wrong checksum",
        { to_address: "0xABcdefABCDEFabcdefabcdefabcdefabcdefabcd" },
        { to_address: "bad_checksum" },
      ],
      [
        "with media that cannot be copied",
        { copy_media: true, image: "ar://cat", animation_url: "ar://cat" },
        { image: "invalid_format", animation_url: "invalid_format" },
      ],
      [
        "with the place of an id that is not known when the media are copied",
        { copy_media: true, image: "https://a.example/{token_id}.png", animation_url: "ipfs://bafy/{token_id}" },
        { image: "conflict", animation_url: "conflict" },
      ],
      ["with attributes that are no list", { attributes: {} }, { attributes: "wrong_type" }],
      ["with too many attributes", { attributes: Array(201).fill({}) }, { attributes: "too_long" }],
      [
        "with attributes nested too deeply",
        { attributes: [JSON.parse("[".repeat(20) + "]".repeat(20))] },
        { attributes: "too_deep" },
      ],
      ...[
        ["a NUL in a text", { value: "a\0b" }],
        ["a lone surrogate in a text", { value: "a\ud800" }],
        ["a NUL in a key", { "a\0b": 1 }],
        ["a lone surrogate in a key", { "\udc00": 1 }],
        ["a NUL deep inside", { value: [{ list: ["\0"] }] }],
        ["a NUL in place of an object", "\0"],
      ].map(
        ([fault, entry]) =>
          [
            `with attributes that hold ${fault as string}`,
            { attributes: [entry] },
            { attributes: "invalid_format" },
          ] as const,
      ),
      [
        "with too much unlockable content",
        { unlockable_content: "ü".repeat(32_769) },
        { unlockable_content: "too_long" },
      ],
      ["with a long description", { description: "x".repeat(10_001) }, { description: "too_long" }],
      ["with fields of the wrong type", { name: 1, image: ["x"] }, { name: "wrong_type", image: "wrong_type" }],
      ["with a typo", { unlockable: "x" }, { unlockable: "unknown_field" }],
    ] as const) {
      it(`refuses one ${title}`, async () => {
        expectInvalid(
          await api.post("/v1/nfts", { collection_address: hosted721, to_address: to, ...fields }),
          refusal,
        );
      });
    }

    it("refuses ERC1155 fields and names them", async () => {
      const fields = { token_id: 1, quantity: 1, initial_supply: 1, initial_owner: to, uri: "ipfs://x" };
      const answer = await api.post("/v1/nfts", { collection_address: hosted721, ...fields });
      const named = Object.fromEntries(Object.keys(fields).map((name) => [name, "wrong_collection_type"]));
      expectRefusal(answer, 422, "wrong_collection_type", named);
    });
  });

  describe("self-hosted", () => {
    it("accepts a destination alone", async () => {
      const row = await acceptedRow({ collection_address: own721, to_address: to });
      expect(row.command).to.deep.equal({ kind: "mint-erc721", collection: own721, to, metadata: null });
    });

    it("refuses fields of hosted collections", async () => {
      const answer = await api.post("/v1/nfts", {
        collection_address: own721,
        to_address: to,
        name: "x",
        unlockable_content: "y",
        copy_media: false,
      });
      expectRefusal(answer, 422, "wrong_hosting", {
        name: "wrong_hosting",
        unlockable_content: "wrong_hosting",
        copy_media: "wrong_hosting",
      });
    });
  });

  describe("the collection", () => {
    it("must be a listed collection of this app", async () => {
      expectInvalid(await api.post("/v1/nfts", { to_address: to }), { collection_address: "required" });
      for (const address of [
        randomAddress(),
        await addCollection(api, { app: api.other.id }),
        await addCollection(api, { listed: false }),
      ]) {
        const answer = await api.post("/v1/nfts", { collection_address: address, to_address: to });
        expectRefusal(answer, 422, "collection_not_found", { collection_address: "collection_not_found" });
      }
    });

    it("must have the service as a minter", async () => {
      const closed = await addCollection(api, { mayMint: false });
      const answer = await api.post("/v1/nfts", { collection_address: closed, to_address: to });
      expectRefusal(answer, 422, "service_cannot_mint", { collection_address: "service_cannot_mint" });
    });

    it("must have supply left, pending mints counted", async () => {
      const capped = await addCollection(api, { cap: 3 });
      await addMint(api, { contract: capped, to, tokenId: 1 });
      const mint = () => api.post("/v1/nfts", { collection_address: capped, to_address: to });
      expectAccepted(await mint());
      expectAccepted(await mint());
      expectRefusal(await mint(), 422, "supply_exceeded", { collection_address: "supply_exceeded" });
    });
  });
});
