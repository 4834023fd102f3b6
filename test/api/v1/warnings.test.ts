import { expect } from "chai";

import { BATCH_ERRORS_LENGTH } from "../../../api/config/limits.ts";
import { WARNING_CODES } from "../../../client/rules/warnings.ts";
import type { Answer } from "../support/api.ts";
import { addCollection, addMint, confirmUpTo } from "../support/api-rows.ts";
import { expectAccepted } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

const TO = randomAddress();
const CUT = "data:image/svg+xml;utf8,<svg fill='#f00'/>";
const WHOLE = "data:image/svg+xml;utf8,<svg fill='%23f00'/>";

interface Warned {
  request_id?: string | null;
  warnings?: { field: string; code: string; message: string }[];
}

/** `field: code` of each warning; undefined when the answer has no such field. */
function warningsOf({ warnings }: Warned): Record<string, string> | undefined {
  return warnings === undefined ? undefined : Object.fromEntries(warnings.map(({ field, code }) => [field, code]));
}

function warnedOf(answer: Answer): Record<string, string> | undefined {
  expectAccepted(answer);
  return warningsOf(answer.body);
}

describe("warnings", () => {
  const api = useApi({ per: "block" });
  let cats: string;
  let gems: string;
  before(async () => {
    await confirmUpTo(api, 10);
    cats = await addCollection(api);
    gems = await addCollection(api, { type: "ERC1155" });
  });

  const create = (fields: object) =>
    api.post("/v1/collections", { type: "ERC721", name: "Cats", symbol: "CAT", ...fields });
  const mint = (fields: object) => api.post("/v1/nfts", { collection_address: cats, to_address: TO, ...fields });
  let nextId = 1;
  const createId = (fields: object) =>
    api.post("/v1/nfts", {
      collection_address: gems,
      token_id: nextId++,
      initial_supply: 1,
      initial_owner: TO,
      ...fields,
    });

  for (const [base, code] of [
    ["https://meta.example/cats", "id_appended"],
    ["https://meta.example/v2", "id_appended"],
    ["https://meta.example/chat-é", "id_appended"],
    ["ipfs://bafy/cats", "id_appended"],
    ["https://meta.example/{token_id}.json", "unknown_placeholder"],
    ["https://meta.example/cats/", undefined],
    ["https://meta.example/?id=", undefined],
    ["https://meta.example/cats-", undefined],
    ["IPFS://bafy/", undefined],
  ] as const) {
    it(`${code ?? "has none"} for the base_uri ${base} of an ERC721 collection`, async () => {
      const warned = warnedOf(await create({ base_uri: base }));
      expect(warned?.["base_uri"]).to.equal(code);
    });
  }

  it("shows the URI that token 1 will have", async () => {
    const { warnings } = (await create({ base_uri: "https://meta.example/cats" })).body as Warned;
    expect(warnings?.[0]?.message).to.contain("https://meta.example/cats1");
  });

  it("says that an ERC1155 collection has no cap, and nothing about its base_uri", async () => {
    const gem = { type: "ERC1155", base_uri: "https://meta.example/{id}" };
    expect(warnedOf(await create({ ...gem, mint_supply_count: 5 }))).to.deep.equal({ mint_supply_count: "ignored" });
    expect(warnedOf(await create({ ...gem, mint_supply_count: 0 }))).to.equal(undefined);
    expect(warnedOf(await create({ mint_supply_count: 5 }))).to.equal(undefined);
  });

  for (const [what, send, fields, expected] of [
    ["a # in data:", mint, { image: CUT, animation_url: CUT.toUpperCase() }, "unescaped_hash"],
    ["a %23 in data:", mint, { image: WHOLE, animation_url: WHOLE }, undefined],
    ["a # in data: with copy_media", mint, { image: CUT, animation_url: CUT, copy_media: true }, undefined],
    ["a # in https:", mint, { image: "https://a.example/#1", animation_url: "https://a.example/#1" }, undefined],
    [
      "{id} in ERC721",
      mint,
      { image: "https://a.example/{id}.png", animation_url: "ipfs://b/{id}" },
      "unknown_placeholder",
    ],
    [
      "{tokenId}",
      createId,
      { image: "https://a.example/{tokenId}", animation_url: "ipfs://b/{TOKEN_ID}" },
      "unknown_placeholder",
    ],
    ["{id} in ERC1155", createId, { image: "https://a.example/{id}.png", animation_url: "ipfs://b/{id}" }, undefined],
    [
      "{token_id}",
      mint,
      { image: "https://a.example/{token_id}.png", animation_url: "ipfs://b/{token_id}" },
      undefined,
    ],
    ["braces of CSS", mint, { image: "data:text/css,a{b}", animation_url: "data:text/css,a{c}" }, undefined],
  ] as const) {
    it(`${expected ?? "has none"} for media with ${what}`, async () => {
      const warned = warnedOf(await send(fields));
      expect(warned).to.deep.equal(expected && { image: expected, animation_url: expected });
    });
  }

  it("looks at the URI of an ERC1155 token, and at texts", async () => {
    expect(warnedOf(await createId({ uri: "https://a.example/{token_id}" }))).to.deep.equal({
      uri: "unknown_placeholder",
    });
    expect(warnedOf(await mint({ name: "Cat #{id}", description: "{ token id }" }))).to.deep.equal({
      name: "unknown_placeholder",
      description: "unknown_placeholder",
    });
    expect(warnedOf(await create({ image: CUT, banner_image: CUT, featured_image: WHOLE }))).to.deep.equal({
      image: "unescaped_hash",
      banner_image: "unescaped_hash",
    });
  });

  it("stand beside each item of a batch, which they do not refuse", async () => {
    const items = [{ image: CUT }, { image: WHOLE }, { image: 1 }].map((fields) => ({
      collection_address: cats,
      to_address: TO,
      ...fields,
    }));
    const { results } = (await api.post("/v1/nfts/batch", { items })).body as unknown as { results: Warned[] };
    expect(results.map(warningsOf)).to.deep.equal([{ image: "unescaped_hash" }, undefined, undefined]);
    expect(results.map((result) => "request_id" in result)).to.deep.equal([true, true, false]);
  });

  it("are bounded in a batch: each item keeps the first", async () => {
    const item = { collection_address: cats, to_address: TO, name: "{id}", description: "{id}", image: "ipfs://{id}" };
    const answer = await api.post("/v1/nfts/batch", { items: Array<object>(1_000).fill(item) });
    const { results } = answer.body as unknown as { results: Warned[] };
    expect(results[0]?.warnings).to.have.length(3);
    expect(results[999]?.warnings).to.have.length(1);
    expect(JSON.stringify(results.map(({ warnings }) => warnings)).length).to.be.below(2 * BATCH_ERRORS_LENGTH);
  });

  it("are the same in the answer to a repeated call, byte for byte", async () => {
    for (const [path, body] of [
      ["/v1/nfts", { collection_address: cats, to_address: TO, image: CUT }],
      ["/v1/nfts/batch", { items: [{ collection_address: cats, to_address: TO, image: CUT }] }],
      ["/v1/collections", { type: "ERC721", name: "Cats", symbol: "CAT", base_uri: "https://meta.example/cats" }],
    ] as const) {
      const headers = { "Idempotency-Key": path };
      const first = await api.post(path, body, { headers });
      expect(first.text).to.contain('"warnings":[');
      expect((await api.post(path, body, { headers })).text).to.equal(first.text);
    }
  });

  it("stand in the answers to PATCH, also when nothing changed", async () => {
    await addMint(api, { contract: cats, to: TO, tokenId: 1, metadata: {} });
    const patch = (path: string, body: object) => api.call("PATCH", `/v1/collections/${path}`, { body });
    for (const field of ["image", "animation_url"]) {
      for (const change of ["made", "repeated"]) {
        const { body } = await patch(`${cats}/1`, { [field]: CUT });
        expect(warningsOf(body), change).to.deep.equal({ [field]: "unescaped_hash" });
      }
    }
    expect((await patch(`${cats}/1`, { image: null })).body).to.not.have.property("warnings");
    expect(warningsOf((await patch(cats, { image: CUT })).body)).to.deep.equal({ image: "unescaped_hash" });
  });

  it("are listed at /docs/errors", async () => {
    const text = await (await fetch(`${api.baseUrl}/docs/errors`)).text();
    for (const code of WARNING_CODES) expect(text).to.contain(`id="${code}"`);
  });
});
