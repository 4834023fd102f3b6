import { expect } from "chai";

import type { Answer } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectInvalid } from "../support/expect.ts";
import { addCollection } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

const LINKS = ["http://a.example/x", "HTTPS://a.example", "ipfs://bafy/1", "ar://tx/1"];
const DATA = "data:application/json;base64,e30=";
const WRONG = [
  "cat.png",
  "//a.example/x",
  "ftp://a.example/x",
  "javascript:alert(1)",
  "file:///etc/passwd",
  "https:",
  "ipfs:///x",
];

describe("URIs", () => {
  const api = useApi({ per: "block" });
  let collection: string;
  let ids: string;
  before(async () => {
    collection = await addCollection(api);
    ids = await addCollection(api, { type: "ERC1155" });
  });

  const create = (fields: object) =>
    api.post("/v1/collections", { type: "ERC721", name: "Cats", symbol: "CAT", ...fields });
  const mint = (fields: object) =>
    api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress(), ...fields });
  let nextId = 1;
  const createId = (fields: object) =>
    api.post("/v1/nfts", {
      collection_address: ids,
      token_id: nextId++,
      initial_supply: 1,
      initial_owner: randomAddress(),
      ...fields,
    });

  for (const [call, send, field, takesData] of [
    ["POST /collections", create, "image", true],
    ["POST /collections", create, "external_link", false],
    ["POST /collections", create, "base_uri", false],
    ["POST /collections", (uri: object) => create({ base_uri: "ipfs://cats/", ...uri }), "collection_uri", true],
    ["POST /nfts", mint, "image", true],
    ["POST /nfts", mint, "animation_url", true],
    ["POST /nfts", mint, "external_url", false],
    ["POST /nfts", mint, "youtube_url", false],
    ["POST /nfts", createId, "uri", true],
  ] as const) {
    describe(`${field} of ${call}`, () => {
      it("accepts the schemes that the document lists", async () => {
        for (const uri of takesData ? [...LINKS, DATA] : LINKS) {
          expect((await send({ [field]: uri })).status, uri).to.equal(200);
        }
      });

      it("refuses any other scheme, naming the field and the schemes", async () => {
        for (const uri of takesData ? [...WRONG, "data:"] : [...WRONG, DATA]) {
          const answer = await send({ [field]: uri });
          expectInvalid(answer, { [field]: "invalid_format" });
          expect(messageOf(answer), uri).to.equal(
            `Must be a full URI with one of the schemes http:, https:, ipfs:, ar:${takesData ? ", data:" : ""}.`,
          );
        }
      });

      it("takes an empty text as left out", async () => {
        expect((await send({ [field]: "" })).status).to.equal(200);
      });
    });
  }

  it("are checked in PATCH too", async () => {
    expectInvalid(
      await api.call("PATCH", `/v1/collections/${collection}`, { body: { image: "x", external_link: DATA } }),
      {
        image: "invalid_format",
        external_link: "invalid_format",
      },
    );
    const body = { image: "x", animation_url: "x", external_url: "x", youtube_url: "x" };
    expectInvalid(await api.call("PATCH", `/v1/collections/${collection}/1`, { body }), {
      image: "invalid_format",
      animation_url: "invalid_format",
      external_url: "invalid_format",
      youtube_url: "invalid_format",
    });
  });
});

function messageOf(answer: Answer): string | undefined {
  return (answer.body as { errors?: { message: string }[] }).errors?.[0]?.message;
}
