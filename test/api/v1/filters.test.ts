import { expect } from "chai";

import { rollback } from "../../../api/store/ledger/rollback.ts";
import { useApi } from "../support/use-api.ts";
import { addCollection, addMint, addMove, confirmUpTo } from "../support/api-rows.ts";
import { expectAccepted, expectInvalid } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("filters of listings", () => {
  const api = useApi({ per: "block" });
  before(async () => {
    await confirmUpTo(api, 10);
  });

  describe("GET /v1/collections/:address", () => {
    const query = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
    const tokens = async (contract: string, fields: Record<string, string>) => {
      const { body } = await api.get(`/v1/collections/${contract}?${query(fields)}`);
      return body.nfts?.map(({ token_id: id }) => id);
    };
    const trait = (type: string, value: string) => ({ trait_type: type, trait_value: value });
    const attributes = (...pairs: [unknown, unknown][]) => ({
      metadata: { attributes: pairs.map(([trait_type, value]) => ({ trait_type, value })) },
    });

    it("lists the tokens of a wallet, by address and by user, in the order in which it received them", async () => {
      const contract = await addCollection(api);
      const user_identifier = "filtered";
      const { body } = await api.post("/v1/accounts", { user_identifier });
      const [alice, bob] = [body.address!, randomAddress()];
      for (const tokenId of [1, 2, 3]) await addMint(api, { contract, to: bob, tokenId });
      await addMint(api, { contract, to: alice, tokenId: 4 });
      await addMove(api, { contract, tokenId: 2, from: bob, to: alice });
      expect(await tokens(contract, { owner: alice })).to.deep.equal([4, 2]);
      expect(await tokens(contract, { user: user_identifier })).to.deep.equal([4, 2]);
      expect(await tokens(contract, { owner: bob.toLowerCase() })).to.deep.equal([1, 3]);
      expect(await tokens(contract, { user: "nobody" })).to.deep.equal([]);
      const first = await api.get(`/v1/collections/${contract}?owner=${alice}&limit=1`);
      expect(first.body).to.include({ total: 2, limit: 1 });
      expect(await tokens(contract, { owner: alice, cursor: first.body.next! })).to.deep.equal([2]);
      expect(await tokens(contract, { owner: alice, offset: "1" })).to.deep.equal([2]);
      expectInvalid(await api.get(`/v1/collections/${contract}?cursor=${first.body.next!}`), {
        cursor: "invalid_format",
      });
    });

    it("does not know the users of another app", async () => {
      const contract = await addCollection(api);
      const user_identifier = "of the other app";
      const { body } = await api.post("/v1/accounts", { user_identifier }, { token: api.other.token });
      await addMint(api, { contract, to: body.address!, tokenId: 1 });
      expect(await tokens(contract, { user: user_identifier })).to.deep.equal([]);
      expect(await tokens(contract, { owner: body.address! })).to.deep.equal([1]);
    });

    it("lists the tokens with a trait", async () => {
      const [contract, other] = [await addCollection(api), await addCollection(api)];
      const to = randomAddress();
      await addMint(api, { contract, to, tokenId: 1, ...attributes(["fur", "red"], ["age", 7], ["fur", "red"]) });
      await addMint(api, { contract, to, tokenId: 2, ...attributes(["fur", "blue"], ["age", "7"], ["tame", true]) });
      await addMint(api, { contract, to, tokenId: 3, ...attributes(["fur", "red"]) });
      await addMint(api, { contract: other, to, tokenId: 1, ...attributes(["fur", "red"]) });
      expect(await tokens(contract, trait("fur", "red"))).to.deep.equal([1, 3]);
      expect(await tokens(contract, trait("age", "7"))).to.deep.equal([1, 2]);
      expect(await tokens(contract, trait("tame", "true"))).to.deep.equal([2]);
      expect(await tokens(contract, trait("fur", "Red"))).to.deep.equal([]);
      const first = await api.get(`/v1/collections/${contract}?${query({ ...trait("fur", "red"), limit: "1" })}`);
      expect(first.body).to.include({ total: 2 });
      expect(await tokens(contract, { ...trait("fur", "red"), cursor: first.body.next! })).to.deep.equal([3]);
      expect(await tokens(contract, { ...trait("fur", "red"), offset: "1" })).to.deep.equal([3]);
    });

    it("finds tokens by how their names begin, as their pages show them", async () => {
      const [contract, other] = [await addCollection(api), await addCollection(api)];
      const to = randomAddress();
      const add = (tokenId: number, name: unknown, at = contract) =>
        addMint(api, { contract: at, to, tokenId, metadata: { name: name as string } });
      await add(1, "Cat {token_id}");
      await add(2, "cat b");
      await add(3, "Dog");
      await add(4, "100 % _cat");
      await add(5, "😀".repeat(100));
      await add(6, 7);
      await add(12, "Cat {token_id}");
      await add(1, "Cat of another collection", other);
      expect(await tokens(contract, { search: "CAT" })).to.deep.equal([1, 12, 2]);
      expect(await tokens(contract, { search: "cat 1" })).to.deep.equal([1, 12]);
      expect(await tokens(contract, { search: "cat 12" })).to.deep.equal([12]);
      expect(await tokens(contract, { search: "100 % _" })).to.deep.equal([4]);
      expect(await tokens(contract, { search: "%" })).to.deep.equal([]);
      expect(await tokens(contract, { search: "😀".repeat(64) })).to.deep.equal([5]);
      const first = await api.get(`/v1/collections/${contract}?search=cat&limit=2`);
      expect(first.body).to.include({ total: 2, limit: 2, next: null });
      await api.call("PATCH", `/v1/collections/${contract}/2`, { body: { name: "Fish" } });
      expect(await tokens(contract, { search: "cat b" })).to.deep.equal([]);
      expect(await tokens(contract, { search: "fish" })).to.deep.equal([2]);
      await addMove(api, { contract, tokenId: 2, from: to, to: null, block: 5 });
      expect(await tokens(contract, { search: "fish" })).to.deep.equal([]);
      await api.database.write((trx) => rollback(trx, 4));
      expect(await tokens(contract, { search: "fish" })).to.deep.equal([2]);
      for (const conflict of ["order=newest", "offset=1", `owner=${to}`, "user=a", "trait_type=a&trait_value=b"]) {
        const [field = ""] = conflict.split("=");
        expectInvalid(await api.get(`/v1/collections/${contract}?search=cat&${conflict}`), { [field]: "conflict" });
      }
      expectInvalid(await api.get(`/v1/collections/${contract}?search=${"x".repeat(65)}`), { search: "too_long" });
    });

    it("lists the newest tokens first, page by page, with cursors of their own", async () => {
      const contract = await addCollection(api);
      for (const tokenId of [1, 2, 3]) await addMint(api, { contract, to: randomAddress(), tokenId });
      expect(await tokens(contract, { order: "newest" })).to.deep.equal([3, 2, 1]);
      expect(await tokens(contract, { order: "oldest" })).to.deep.equal([1, 2, 3]);
      const first = await api.get(`/v1/collections/${contract}?order=newest&limit=2`);
      expect(first.body).to.include({ total: 3 });
      const cursor = first.body.next!;
      expect(await tokens(contract, { order: "newest", cursor })).to.deep.equal([1]);
      expectInvalid(await api.get(`/v1/collections/${contract}?cursor=${cursor}`), { cursor: "invalid_format" });
      expectInvalid(await api.get(`/v1/collections/${contract}?order=newest&user=a`), { user: "conflict" });
      expectInvalid(await api.get(`/v1/collections/${contract}?order=name`), { order: "invalid" });
    });

    it("follows changed metadata, burnt tokens, and a reorg that brings them back", async () => {
      const contract = await addCollection(api);
      const to = randomAddress();
      await addMint(api, { contract, to, tokenId: 1, ...attributes(["fur", "red"]) });
      await addMint(api, { contract, to, tokenId: 2, ...attributes(["fur", "red"]) });
      const change = { attributes: [{ trait_type: "fur", value: "green" }] };
      await api.call("PATCH", `/v1/collections/${contract}/2`, { body: change });
      expect(await tokens(contract, trait("fur", "red"))).to.deep.equal([1]);
      expect(await tokens(contract, trait("fur", "green"))).to.deep.equal([2]);
      await addMove(api, { contract, tokenId: 2, from: to, to: null, block: 5 });
      expect(await tokens(contract, trait("fur", "green"))).to.deep.equal([]);
      const traits = () => api.database.read.selectFrom("token_traits").select("trait").execute();
      const before = (await traits()).length;
      await api.database.write((trx) => rollback(trx, 4));
      expect((await traits()).length).to.equal(before + 1);
      expect(await tokens(contract, trait("fur", "green"))).to.deep.equal([2]);
      await api.call("PATCH", `/v1/collections/${contract}/2`, { body: { attributes: null } });
      expect(await tokens(contract, trait("fur", "green"))).to.deep.equal([]);
      await addMint(api, { contract, to, tokenId: 3, ...attributes(["fur", "red"]), block: 6 });
      await api.database.write((trx) => rollback(trx, 5));
      expect(await tokens(contract, trait("fur", "red"))).to.deep.equal([1]);
    });

    it("indexes a bounded part of hostile attributes", async () => {
      const contract = await addCollection(api);
      const to = randomAddress();
      const huge = "x".repeat(200_000);
      const many = Array.from({ length: 5_000 }, (_, index): [unknown, unknown] => [`t${index.toString()}`, "v"]);
      const odd: unknown[] = [null, 7, "text", [], {}, { trait_type: 7, value: "v" }, { trait_type: "n", value: null }];
      await addMint(api, { contract, to, tokenId: 1, metadata: { attributes: odd } });
      await addMint(api, { contract, to, tokenId: 2, ...attributes([huge, "v"], ["t", huge], ["t", "kept"]) });
      await addMint(api, { contract, to, tokenId: 3, ...attributes(...many) });
      await addMint(api, { contract, to, tokenId: 4, metadata: { attributes: "text" as unknown as unknown[] } });
      expect(await tokens(contract, trait("t", "kept"))).to.deep.equal([2]);
      expect(await tokens(contract, trait("t31", "v"))).to.deep.equal([3]);
      expect(await tokens(contract, trait("t32", "v"))).to.deep.equal([]);
      const rows = await api.database.read
        .selectFrom("token_traits")
        .innerJoin("nfts", "nfts.seq", "token_traits.token_seq")
        .select("trait")
        .where("contract", "=", contract)
        .execute();
      expect(rows).to.have.length(33);
      expectInvalid(await api.get(`/v1/collections/${contract}?${query(trait("x".repeat(257), "v"))}`), {
        trait_type: "too_long",
      });
    });

    it("takes one filter at a time, and a trait with its value", async () => {
      const contract = await addCollection(api);
      const path = `/v1/collections/${contract}`;
      const owner = randomAddress();
      expectInvalid(await api.get(`${path}?owner=${owner}&user=a`), { user: "conflict" });
      expectInvalid(await api.get(`${path}?trait_type=a`), { trait_value: "required" });
      expectInvalid(await api.get(`${path}?trait_value=a`), { trait_type: "required" });
      expectInvalid(await api.get(`${path}?owner=${owner}&trait_type=a&trait_value=b`), { trait_type: "conflict" });
    });
  });

  describe("?order", () => {
    type Listed = Record<string, unknown>[];
    const keys = {
      accounts: ["wallets", "address"],
      collections: ["collections", "address"],
      requests: ["requests", "request_id"],
    } as const;

    before("two of each", async () => {
      for (let count = 0; count < 2; count++) {
        await api.post("/v1/accounts", {});
        await addCollection(api);
        expectAccepted(await api.post("/v1/collections", { type: "ERC721", name: "A", symbol: "A" }));
      }
    });

    for (const path of ["accounts", "collections", "requests"] as const) {
      it(`lists the ${path} from either end, page by page`, async () => {
        const [name, id] = keys[path];
        const all = async (order: string) => {
          const ids: unknown[] = [];
          for (let next: string | null = ""; next !== null;) {
            const cursor = next === "" ? "" : `&cursor=${next}`;
            const { body } = await api.get(`/v1/${path}?limit=1${order}${cursor}`);
            ids.push(...(body[name] as unknown as Listed).map((item) => item[id]));
            next = body.next ?? null;
          }
          return ids;
        };
        const oldest = await all("&order=oldest");
        expect(oldest).to.have.length.above(1);
        expect(await all("&order=newest")).to.deep.equal(oldest.toReversed());
        expect(await all("")).to.deep.equal(path === "requests" ? oldest.toReversed() : oldest);
      });
    }

    it("cannot be combined with what is found in another order", async () => {
      const to = randomAddress();
      for (const path of [`requests?order=oldest&wallet=${to}`, `requests?order=oldest&collection=${to}`])
        expectInvalid(await api.get(`/v1/${path}`), {
          [path.includes("wallet") ? "wallet" : "collection"]: "conflict",
        });
      for (const path of ["accounts", "collections"]) {
        expectInvalid(await api.get(`/v1/${path}?order=newest&search=a`), { order: "conflict" });
        expectInvalid(await api.get(`/v1/${path}?order=newest&addresses=${to}`), { order: "conflict" });
      }
    });
  });

  describe("GET /v1/requests", () => {
    it("filters by collection, wallet and user, alone and together with the other filters", async () => {
      const [cats, dogs] = [await addCollection(api), await addCollection(api)];
      const wallet = await api.post("/v1/accounts", { user_identifier: "requests-alice" });
      const alice = wallet.body.address!;
      const bob = randomAddress();
      const mint = async (collection_address: string, to_address: string, more = {}) =>
        expectAccepted(await api.post("/v1/nfts", { collection_address, to_address, ...more }));
      const [first, second] = [await mint(cats, alice), await mint(dogs, alice, { reference: "order-f" })];
      const third = await mint(cats, bob, { reference: "order-f" });
      await addMint(api, { contract: cats, to: alice, tokenId: 1 });
      const transfer = { contract_address: cats, from_address: alice, to_address: bob, token_id: 1 };
      const moved = expectAccepted(await api.post("/v1/transfers", transfer));
      const found = async (search: string, token = api.app.token) => {
        const { body } = await api.get(`/v1/requests?${search}`, { token });
        expect(body.total, search).to.equal(body.requests!.length);
        return body.requests!.map(({ request_id: id }) => id);
      };
      const pending = "status=pending";
      expect(await found(`collection=${cats}&${pending}`)).to.deep.equal([moved, third, first]);
      expect(await found(`wallet=${alice}`)).to.deep.equal([moved, second, first]);
      expect(await found(`wallet=${bob.toLowerCase()}`)).to.deep.equal([moved, third]);
      expect(await found("user=requests-alice")).to.deep.equal([moved, second, first]);
      expect(await found("user=nobody")).to.deep.equal([]);
      expect(await found(`wallet=${alice}&type=mint&${pending}`)).to.deep.equal([second, first]);
      expect(await found(`wallet=${alice}&collection=${dogs}`)).to.deep.equal([second]);
      expect(await found(`reference=order-f&wallet=${bob}`)).to.deep.equal([third]);
      expect(await found(`reference=order-f&collection=${dogs}`)).to.deep.equal([second]);
      for (const search of [`collection=${cats}`, `wallet=${alice}`, `wallet=${bob}`, "user=requests-alice"])
        expect(await found(search, api.other.token)).to.deep.equal([]);
      const page = await api.get(`/v1/requests?wallet=${alice}&limit=2`);
      expect(page.body).to.include({ total: 3 });
      const next = await api.get(`/v1/requests?wallet=${alice}&limit=2&cursor=${page.body.next!}`);
      expect(next.body.requests!.map(({ request_id: id }) => id)).to.deep.equal([first]);
      const skipped = await api.get(`/v1/requests?wallet=${alice}&limit=1&offset=1`);
      expect(skipped.body.requests!.map(({ request_id: id }) => id)).to.deep.equal([second]);
    });

    it("refuses a wallet together with a user", async () => {
      expectInvalid(await api.get(`/v1/requests?user=a&wallet=${randomAddress()}`), { user: "conflict" });
    });
  });
});
