import { expect } from "chai";

import { MAX_PAGE_BYTES } from "../../../api/config/limits.ts";
import { answerBody, pageAnswer, pageOfFound } from "../../../api/v1/schemas/pages.ts";
import { listContents } from "../../../api/store/listings/holdings.ts";
import { listCollections } from "../../../api/store/listings/collections.ts";
import { listNfts } from "../../../api/store/listings/nfts.ts";
import { listRequests } from "../../../api/store/requests/requests.ts";
import type { Answer } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { expectInvalid } from "../support/expect.ts";
import { addCollection, addMint, addWallet, confirmUpTo } from "../support/api-rows.ts";

describe("pages", () => {
  const api = useApi({ per: "block" });
  const wallets: string[] = [];
  before(async () => {
    for (let n = 0; n < 35; n++) wallets.push(await addWallet(api));
    await addWallet(api, api.other.token);
  });

  const addresses = (answer: Answer) => answer.body.wallets?.map((row) => row.address);

  it("have 30 rows by default, and the total of all rows", async () => {
    const answer = await api.get("/v1/accounts");
    expect(addresses(answer)).to.deep.equal(wallets.slice(0, 30));
    expect(answer.body).to.include({ total: 35, limit: 30, offset: 0 });
    expect(answer.body.next).to.be.a("string");
  });

  it("have up to 200 rows where the interface does not bound the list, and up to 30 elsewhere", async () => {
    const answer = await api.get("/v1/accounts?limit=200");
    expect(addresses(answer)).to.deep.equal(wallets);
    expect(answer.body).to.include({ total: 35, limit: 200, next: null });
    const [wallet = "", contract] = [wallets[0], await addCollection(api)];
    await addMint(api, { contract, to: wallet, tokenId: 1 });
    const [ofWallet, ofCollection] = [`/v1/accounts/${wallet}`, `/v1/collections/${contract}`];
    for (const list of ["requests", "contracts", "collections", "webhook/deliveries"])
      expect((await api.get(`/v1/${list}?limit=200`)).status, list).to.equal(200);
    for (const path of [`${ofWallet}/history`, `${ofCollection}/1/history`]) {
      expect((await api.get(`${path}?limit=200`)).status, path).to.equal(200);
      expectInvalid(await api.get(`${path}?limit=201`), { limit: "too_big" });
    }
    for (const path of [ofWallet, `${ofWallet}/${contract}`, ofCollection, `${ofCollection}/1`])
      expectInvalid(await api.get(`${path}?limit=31`), { limit: "too_big" });
  });

  it("skip `offset` rows", async () => {
    const answer = await api.get("/v1/accounts?limit=10&offset=20");
    expect(addresses(answer)).to.deep.equal(wallets.slice(20, 30));
    expect(answer.body).to.include({ total: 35, limit: 10, offset: 20 });
    const beyond = await api.get("/v1/accounts?offset=1000");
    expect(beyond.body).to.deep.include({ wallets: [], total: 35, next: null });
  });

  it("can be followed by cursor to the end, without gap or repetition", async () => {
    const seen: string[] = [];
    let path = "/v1/accounts?limit=8";
    for (let offset = 0; ; offset += 8) {
      const answer = await api.get(path);
      expect(answer.body.offset).to.equal(offset);
      seen.push(...(answer.body.wallets ?? []).map((row) => row.address ?? ""));
      const { next } = answer.body;
      if (next == null) break;
      path = `/v1/accounts?limit=8&cursor=${next}`;
    }
    expect(seen).to.deep.equal(wallets);
  });

  it("can be followed by cursor from a page with an offset", async () => {
    const middle = await api.get("/v1/accounts?limit=5&offset=10");
    const next = await api.get(`/v1/accounts?limit=5&cursor=${middle.body.next ?? ""}`);
    expect(addresses(next)).to.deep.equal(wallets.slice(15, 20));
    expect(next.body.offset).to.equal(15);
  });

  it("have a null cursor exactly at the last row", async () => {
    expect((await api.get("/v1/accounts?limit=5&offset=30")).body.next).to.equal(null);
    expect((await api.get("/v1/accounts?limit=5&offset=29")).body.next).to.be.a("string");
  });

  for (const [query, field, code] of [
    ["limit=0", "limit", "too_small"],
    ["limit=201", "limit", "too_big"],
    ["limit=-1", "limit", "too_small"],
    ["limit=1e1", "limit", "wrong_type"],
    ["limit=", "limit", "wrong_type"],
    ["limit=1&limit=2", "limit", "repeated"],
    ["offset=-1", "offset", "too_small"],
    ["offset=10001", "offset", "too_big"],
    ["offset=9999999999999999", "offset", "too_big"],
    ["cursor=nonsense", "cursor", "invalid_format"],
    ["cursor=", "cursor", "invalid_format"],
  ] as const) {
    it(`refuse ?${query}`, async () => {
      expectInvalid(await api.get(`/v1/accounts?${query}`), { [field]: code });
    });
  }

  it("name `cursor` when `offset` is too large", async () => {
    expect((await api.get("/v1/accounts?offset=10000")).status).to.equal(200);
    const refused = await api.get("/v1/accounts?offset=10001");
    expect(JSON.stringify(refused.body)).to.include(
      "Must be at most 10000. To go further, follow `next` with `cursor`.",
    );
  });

  it("refuse a cursor of another listing, or together with an offset", async () => {
    const next = (await api.get("/v1/accounts?limit=1")).body.next ?? "";
    expectInvalid(await api.get(`/v1/requests?cursor=${next}`), { cursor: "invalid_format" });
    expectInvalid(await api.get(`/v1/accounts?cursor=${next}&offset=1`), { cursor: "conflict" });
  });

  describe("given items that are larger than a page may be", () => {
    /** An older version accepted metadata of this size, and a long token id in place of `{token_id}` makes more of it. */
    const COUNT = 5;
    const IDS = Array.from({ length: COUNT }, (_, index) => (10n ** 76n + BigInt(index)).toString());
    const LARGE = { description: "{token_id}".repeat(26_000) };
    let collection: string;
    let wallet: string;
    before(async () => {
      collection = await addCollection(api, { type: "ERC1155" });
      wallet = await addWallet(api);
      for (const tokenId of IDS) {
        await addMint(api, {
          contract: collection,
          to: wallet,
          tokenId: BigInt(tokenId),
          type: "ERC1155",
          metadata: LARGE,
        });
      }
    });

    for (const [what, way] of [
      ["by cursor", ({ body }: Answer) => (body.next == null ? null : `cursor=${body.next}`)],
      [
        "by adding `limit` to `offset`",
        ({ body: { limit = 0, offset = 0, total = 0 } }: Answer) =>
          offset + limit < total ? `offset=${(offset + limit).toString()}` : null,
      ],
    ] as const) {
      it(`end early, and can be followed ${what}, without gap or repetition`, async () => {
        for (const path of [`/v1/collections/${collection}`, `/v1/accounts/${wallet}`]) {
          const [seen, sizes]: [string[], number[]] = [[], []];
          for (let query: string | null = "limit=4"; query !== null;) {
            const answer = await api.get(`${path}?${query}`);
            seen.push(...(answer.body.nfts ?? []).map((nft) => String(nft.token_id)));
            sizes.push(answer.body.nfts?.length ?? 0);
            expect(Buffer.byteLength(answer.text)).to.be.at.most(MAX_PAGE_BYTES);
            query = way(answer);
          }
          expect(seen, path).to.deep.equal(IDS);
          // Each has 2,002,000 bytes.
          expect(sizes, path).to.deep.equal([2, 2, 1]);
        }
      });
    }

    it("read only the large metadata that fit", async () => {
      const [holder, single] = [await addWallet(api), await addCollection(api)];
      // As an older version stored it.
      const metadata = { description: "a".repeat(2_000_000) };
      for (const tokenId of [1, 2, 3, 4]) await addMint(api, { contract: single, to: holder, tokenId, metadata });
      const page = { limit: 30, offset: 0, after: null };
      const { read } = api.database;
      for (const listed of [listNfts(read, single, "oldest", page), listContents(read, holder, null, page)]) {
        const { items, limit, next, total } = await listed;
        expect(items.map((item) => item.metadata?.description?.length)).to.deep.equal([2_000_000, 2_000_000]);
        expect({ limit, total, offset: next?.offset }).to.deep.equal({ limit: 2, total: 4, offset: 2 });
      }
      // The metadata of a mint is in its command.
      const requests = await listRequests(read, api.app.id, { status: null, type: null }, page);
      expect(requests.items).to.have.length.greaterThan(4);
      for (const item of requests.items) expect(item).to.not.have.any.keys("command", "unlockable");
    });

    it("read no more collections than fit, also when more are asked for", async () => {
      const description = "a".repeat(150_000);
      const made: string[] = [];
      for (let n = 0; n < 70; n++)
        made.push(await addCollection(api, { app: api.other.id, metadata: { description } }));
      const page = { limit: 200, offset: 0, after: null };
      const { items, limit, next } = await listCollections(api.database.read, api.other.id, "oldest", page);
      // 31 have more than 4 MiB, so no further ones are read.
      expect({ read: items.length, limit, offset: next?.offset }).to.deep.equal({ read: 30, limit: 30, offset: 30 });
      const seen: (string | undefined)[] = [];
      for (let cursor = ""; ;) {
        const { body, text } = await api.get(`/v1/collections?limit=200${cursor}`, { token: api.other.token });
        expect(Buffer.byteLength(text)).to.be.at.most(MAX_PAGE_BYTES);
        seen.push(...(body.collections ?? []).map(({ address }) => address));
        if (body.next == null) break;
        cursor = `&cursor=${body.next}`;
      }
      expect(seen).to.deep.equal(made);
    });

    it("have one item that is larger than a page", async () => {
      const single = await addCollection(api);
      const metadata = { description: "a".repeat(MAX_PAGE_BYTES + 1) };
      for (const tokenId of [1, 2]) await addMint(api, { contract: single, to: wallet, tokenId, metadata });
      const first = await api.get(`/v1/collections/${single}`);
      expect(first.body).to.include({ total: 2, limit: 1 });
      const second = await api.get(`/v1/collections/${single}?cursor=${first.body.next ?? ""}`);
      expect(second.body.nfts?.map((nft) => nft.token_id)).to.deep.equal([2]);
      expect(second.body.next).to.equal(null);
    });

    const half = "a".repeat(MAX_PAGE_BYTES / 2 - 1_000);
    for (const [what, texts] of [
      ["all items are large", [half, half, half]],
      ["the first item is small", ["a", `${half}${half}`, half]],
    ] as const) {
      it(`count only what fits where everything that was found comes on one page, and ${what}`, () => {
        const found = texts.map((text, id) => ({ id, text }));
        const body = answerBody(pageAnswer(pageOfFound(found, 30), "found", "nfts", found)).toString();
        const { nfts, ...frame } = JSON.parse(body) as { nfts: unknown[] };
        expect(nfts).to.deep.equal(found.slice(0, 2));
        expect(frame).to.deep.equal({ total: 2, limit: 2, offset: 0, next: null });
      });
    }

    it("count the bytes of unlockable content, not its characters", async () => {
      const holder = await addWallet(api);
      const secrets = await addCollection(api);
      // 65,536 characters of 6 bytes each in JSON.
      const unlockable = "\u0001".repeat(65_536);
      for (let tokenId = 1; tokenId <= 12; tokenId++)
        await addMint(api, { contract: secrets, to: holder, tokenId, unlockable });
      await confirmUpTo(api, 1);
      const answer = await api.get(`/v1/accounts/${holder}`);
      expect(Buffer.byteLength(answer.text)).to.be.within(MAX_PAGE_BYTES - 400_000, MAX_PAGE_BYTES);
      expect(answer.body.nfts).to.have.length(10);
    });
  });
});
