import { expect } from "chai";

import type { TokenMetadata } from "../../../api/domain/command.ts";
import { findCollection } from "../../../api/store/listings/collections.ts";
import { mayBeMinted } from "../../../api/store/listings/nfts.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addMove, confirmUpTo } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { storedRequest } from "../support/stored-request.ts";

const HOLDER = randomAddress();

describe("GET /metadata", () => {
  const api = useApi({ per: "block" });
  before(async () => {
    await confirmUpTo(api, 10);
  });

  const get = (path: string, headers: Record<string, string> = {}) =>
    api.get(`/metadata/31337/${path}`, { token: null, headers });

  it("serves a token to anybody, with {token_id} replaced", async () => {
    const contract = await addCollection(api);
    const metadata = {
      name: "Cat {token_id}",
      description: "no {token_id}",
      image: "ipfs://{token_id}",
      attributes: [1],
    };
    await addMint(api, { contract, to: HOLDER, tokenId: 12, metadata, unlockable: "secret" });
    const answer = await get(`${contract}/12`);
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.equal({ ...metadata, name: "Cat 12", description: "no 12" });
    expect(answer.headers.get("content-type")).to.equal("application/json; charset=utf-8");
    expect(answer.headers.get("access-control-allow-origin")).to.equal("*");
    expect(answer.headers.get("cross-origin-resource-policy")).to.equal("cross-origin");
    expect(answer.headers.get("cache-control")).to.equal("public, max-age=300");
    expect((await get(`${contract.toLowerCase()}/12`)).text).to.equal(answer.text);
  });

  describe("given URIs with {token_id}", () => {
    const place = "https://a.example/{token_id}/{token_id}.png";
    const uris = { image: place, animation_url: place, external_url: place };
    const filled = { image: fill(1), animation_url: fill(1), external_url: fill(1) };
    function fill(id: number | bigint) {
      return place.replaceAll("{token_id}", id.toString());
    }
    const patch = (path: string, body: object) => api.call("PATCH", `/v1/collections/${path}`, { body });

    it("replaces it in tokens that this version accepted, everywhere", async () => {
      const contract = await addCollection(api);
      const answer = await api.post("/v1/nfts", { collection_address: contract, to_address: HOLDER, ...uris });
      const { command } = await storedRequest(api, expectAccepted(answer));
      const { metadata } = command as { metadata: TokenMetadata };
      const to = (await api.post("/v1/accounts", {})).body["address"] as string;
      await addMint(api, { contract, to, tokenId: 1, metadata });
      expect((await get(`${contract}/1`)).body).to.deep.equal(filled);
      for (const path of [`collections/${contract}/1`, `accounts/${to}/${contract}/1`]) {
        const { text } = await api.get(`/v1/${path}`);
        for (const [field, uri] of Object.entries(filled)) expect(text, path).to.contain(`"${field}":"${uri}"`);
      }
    });

    it("keeps it in tokens of earlier versions, until a change writes a new document", async () => {
      const contract = await addCollection(api);
      await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: uris });
      expect((await get(`${contract}/1`)).text).to.equal(JSON.stringify(uris));
      expect((await patch(`${contract}/1`, { image: place, name: null })).body).to.deep.equal({
        metadata: uris,
        request_id: null,
      });
      const changed = { ...filled, name: "Cat 1" };
      expect((await patch(`${contract}/1`, { name: "Cat {token_id}" })).body).to.deep.include({ metadata: changed });
      expect((await get(`${contract}/1`)).body).to.deep.equal(changed);
      await patch(`${contract}/1`, { image: "ipfs://cat", animation_url: null, external_url: null, name: null });
      expect((await get(`${contract}/1`)).text).to.equal(JSON.stringify({ image: "ipfs://cat" }));
    });

    it("replaces it by a decimal id in ERC1155, too", async () => {
      const contract = await addCollection(api, { type: "ERC1155" });
      const tokenId = 2n ** 256n - 1n;
      await addMint(api, { contract, to: HOLDER, tokenId, type: "ERC1155", metadata: { ...uris, fills_uris: true } });
      expect((await get(`${contract}/${tokenId.toString()}`)).body).to.include({ image: fill(tokenId) });
    });
  });

  it("has exactly the given fields, unchanged", async () => {
    const contract = await addCollection(api);
    const metadata = {
      name: "Cat",
      attributes: [
        { trait_type: "Eyes", value: "green" },
        { display_type: "number", trait_type: "Generation", value: 2, max_value: 9 },
        { display_type: "boost_percentage", trait_type: "Speed", value: 1.5 },
        { display_type: "date", trait_type: "Born", value: 1_546_360_800 },
        "plain",
      ],
    };
    await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata });
    await addMint(api, { contract, to: HOLDER, tokenId: 2, metadata: {} });
    expect((await get(`${contract}/1`)).text).to.equal(JSON.stringify(metadata));
    expect((await get(`${contract}/2`)).text).to.equal("{}");
    const head = await api.call("HEAD", `/metadata/31337/${contract}/1`, { token: null });
    expect([head.status, head.text, head.headers.get("content-length")]).to.deep.equal([
      200,
      "",
      JSON.stringify(metadata).length.toString(),
    ]);
  });

  it("accepts a decimal id and the 64 hex digits of ERC-1155", async () => {
    const contract = await addCollection(api, { type: "ERC1155" });
    const digits = "1".repeat(64);
    const tokens: [bigint, string][] = [
      [BigInt(`0x${digits}`), "hex"],
      [2n ** 256n - 1n, "largest"],
      [10n, "small"],
    ];
    for (const [tokenId, name] of tokens) {
      await addMint(api, { contract, to: HOLDER, tokenId, type: "ERC1155", metadata: { name: `${name} {token_id}` } });
      const expected = { name: `${name} ${tokenId.toString()}` };
      for (const form of [tokenId.toString(), tokenId.toString(16).padStart(64, "0")]) {
        expect((await get(`${contract}/${form}`)).body).to.deep.equal(expected);
      }
    }
    expect((await get(`${contract}/${digits}`)).body)
      .to.have.property("name")
      .that.matches(/^hex/);
  });

  it("answers 304 to a matching If-None-Match", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: { name: "a" } });
    const tag = (await get(`${contract}/1`)).headers.get("etag") ?? "";
    expect(tag).to.match(/^"[A-Za-z0-9_-]{43}"$/);
    expect((await get(`${contract}/1`, { "if-none-match": tag })).status).to.equal(304);
    expect((await get(`${contract}/1`, { "if-none-match": '"other"' })).status).to.equal(200);
    const preflight = await api.call("OPTIONS", `/metadata/31337/${contract}/1`, { token: null });
    expect(preflight.status).to.equal(204);
    expect(preflight.headers.get("access-control-allow-headers")).to.equal("*");
  });

  describe("given a token whose block the indexer has not stored yet", () => {
    it("waits for the indexer", async () => {
      const contract = await addCollection(api);
      expectAccepted(await api.post("/v1/nfts", { collection_address: contract, to_address: HOLDER }));
      const answer = get(`${contract}/1`);
      const ids = await addCollection(api, { type: "ERC1155" });
      const create = { collection_address: ids, token_id: 7, initial_supply: 1, initial_owner: HOLDER };
      expectAccepted(await api.post("/v1/nfts", create));
      const other = get(`${ids}/7`);
      await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: { name: "new" } });
      await addMint(api, { contract: ids, to: HOLDER, tokenId: 7, type: "ERC1155", metadata: { name: "seven" } });
      api.blocksStored.notify();
      expect((await answer).body).to.deep.equal({ name: "new" });
      expect((await other).body).to.deep.equal({ name: "seven" });
    });

    it("waits only for a token that an accepted mint can have made", async () => {
      const address = await addCollection(api);
      expectAccepted(await api.post("/v1/nfts", { collection_address: address, to_address: HOLDER }));
      const ids = await addCollection(api, { type: "ERC1155" });
      const create = { collection_address: ids, token_id: 7, initial_supply: 1, initial_owner: HOLDER };
      expectAccepted(await api.post("/v1/nfts", create));
      const { read } = api.database;
      const may = async (contract: string, id: string) =>
        mayBeMinted(read, (await findCollection(read, contract))!, id);
      expect(await Promise.all(["0", "1", "2"].map((id) => may(address, id)))).to.deep.equal([false, true, false]);
      expect(await Promise.all(["1", "7"].map((id) => may(ids, id)))).to.deep.equal([false, true]);
      expectRefusal(await get(`${address}/2`), 404, "not_found");
    });

    it("lets four calls of a client wait, and answers further ones at once", async () => {
      const contract = await addCollection(api);
      expectAccepted(await api.post("/v1/nfts", { collection_address: contract, to_address: HOLDER }));
      const calls = Array.from({ length: 5 }, () => get(`${contract}/1`));
      expectRefusal(await Promise.any(calls), 404, "not_found");
      await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: { name: "new" } });
      api.blocksStored.notify();
      const statuses = (await Promise.all(calls)).map(({ status }) => status).sort();
      expect(statuses).to.deep.equal([200, 200, 200, 200, 404]);
    });
  });

  it("serves a mint from its first block on, uncacheable until it is final", async () => {
    const contract = await addCollection(api, { listed: false });
    await addMint(api, { contract, to: HOLDER, tokenId: 1, metadata: { name: "new" }, block: 11 });
    for (const path of [contract, `${contract}/1`]) {
      const answer = await get(path);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("cache-control")).to.equal("no-store");
    }
  });

  it("serves a collection", async () => {
    const metadata = { description: "d", seller_fee_basis_points: 100, fee_recipient: HOLDER };
    const contract = await addCollection(api, { name: "Cats", metadata });
    const answer = await get(contract);
    expect(answer.body).to.deep.equal({ name: "Cats", symbol: "COL", ...metadata });
    expect(answer.headers.get("cache-control")).to.equal("public, max-age=300");
  });

  it("answers 404 for anything else, uncacheable", async () => {
    const contract = await addCollection(api);
    await addMint(api, { contract, to: HOLDER, tokenId: 1 });
    await addMint(api, { contract, to: HOLDER, tokenId: 2, metadata: null });
    await addMint(api, { contract, to: HOLDER, tokenId: 3 });
    await addMove(api, { contract, tokenId: 3, from: HOLDER, to: null });
    const selfHosted = await addCollection(api, { hosting: "self-hosted" });
    for (const path of [
      `/metadata/1/${contract}/1`,
      `/metadata/31337/${contract}/2`,
      `/metadata/31337/${contract}/3`,
      `/metadata/31337/${contract}/4`,
      `/metadata/31337/${contract}/0x1`,
      `/metadata/31337/${contract}/-1`,
      `/metadata/31337/${contract}/${(2n ** 256n).toString()}`,
      `/metadata/31337/${contract}/${"g".repeat(64)}`,
      `/metadata/31337/${selfHosted}`,
      `/metadata/31337/${selfHosted}/1`,
      `/metadata/31337/${randomAddress()}`,
      `/metadata/31337/cats/1`,
      `/metadata/31337`,
      `/metadata`,
    ]) {
      const answer = await api.get(path, { token: null });
      expectRefusal(answer, 404, "not_found");
      expect(answer.headers.get("cache-control")).to.equal("no-store");
    }
  });
});
