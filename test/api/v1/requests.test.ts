import { expect } from "chai";

import { ERRORS } from "../../../api/domain/error-codes.ts";
import { useApi } from "../support/use-api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { resultsOf } from "../support/batches.ts";
import { addCollection, addMint, addMove, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";

const COLLECTION = { type: "ERC721", name: "A", symbol: "AAA" };

describe("requests", () => {
  const api = useApi();

  describe("GET /v1/requests/:request_id", () => {
    it("shows a pending request", async () => {
      const id = expectAccepted(await api.post("/v1/collections", COLLECTION));
      const { body } = await api.get(`/v1/requests/${id}`);
      const { created_at: created, ...rest } = body as Record<string, unknown>;
      expect(Date.parse(String(created))).to.be.closeTo(Date.now(), 5_000);
      expect(rest).to.deep.equal({
        request_id: id,
        type: "collection",
        status: "pending",
        reference: null,
        nft_collection: null,
        nft_token_id: null,
        ...{ contract_address: null, token_id: null, quantity: null },
        ...{ from_address: null, to_address: null, from_user: null, to_user: null },
        ...{ retry_of: null, retried_by: null },
        transaction_hash: null,
        block_number: null,
        gas_used: null,
        fee_wei: null,
        error_code: null,
        error_message: null,
        errors: null,
        // No relayer runs here.
        waiting_for: "unknown",
        updated_at: created,
      });
    });

    it("says whom and what it concerns, with the present names of the app's own users", async () => {
      const walletOf = async (user: string, token = api.app.token) =>
        (await api.post("/v1/accounts", { user_identifier: user }, { token })).body.address ?? "";
      const [alice, bob, theirs] = [
        await walletOf("alice"),
        await walletOf("bob"),
        await walletOf("eve", api.other.token),
      ];
      const contract = await addCollection(api, { type: "ERC1155" });
      await addMint(api, { contract, to: alice, tokenId: 7, type: "ERC1155", quantity: 5 });
      const token = { from_address: alice, contract_address: contract, token_id: 7 };
      const moved = { contract_address: contract, token_id: 7, from_address: alice, from_user: "alice" };
      const erc721 = await addCollection(api);
      const calls = [
        [
          await api.post("/v1/transfers", { ...token, to_user: "bob", amount: 2 }),
          { ...moved, to_address: bob, to_user: "bob", quantity: 2 },
        ],
        [
          await api.post("/v1/transfers", { ...token, to_address: theirs, amount: 1 }),
          { ...moved, to_address: theirs, to_user: null, quantity: 1 },
        ],
        [
          await api.post("/v1/burns", { ...token, amount: 1 }),
          { ...moved, to_address: null, to_user: null, quantity: 1 },
        ],
        [
          await api.post("/v1/nfts", { collection_address: erc721, to_user: "alice" }),
          {
            ...{ contract_address: erc721, token_id: null, quantity: 1 },
            ...{ from_address: null, from_user: null, to_address: alice, to_user: "alice" },
          },
        ],
      ] as const;
      for (const [answer, expected] of calls) {
        const { body } = await api.get(`/v1/requests/${expectAccepted(answer)}`);
        expect(body).to.deep.include(expected);
        expect(body).to.include({ nft_token_id: expected.token_id });
      }
      const listed = (await api.get("/v1/requests?order=oldest")).body.requests as Record<string, unknown>[];
      expect(listed.slice(-4).map(({ to_user: user }) => user)).to.deep.equal(["bob", null, null, "alice"]);
      await api.database.write((trx) =>
        trx.updateTable("wallets").set({ user_identifier: "robert" }).where("address", "=", bob).execute(),
      );
      expect((await api.get(`/v1/requests?user=robert`)).body.requests?.[0]).to.include({ to_user: "robert" });
    });

    it("shows the result of a completed request, and the cause of a failed one", async () => {
      const id = expectAccepted(await api.post("/v1/collections", COLLECTION));
      const collection = randomAddress();
      const change = (set: object) =>
        api.database.write((trx) => trx.updateTable("requests").set(set).where("id", "=", id).execute());
      await change({ status: "completed", nft_collection: collection, nft_token_id: "12", block_number: 4 });
      expect((await api.get(`/v1/requests/${id}`)).body).to.include({
        status: "completed",
        nft_collection: collection,
        nft_token_id: 12,
        block_number: 4,
      });
      const errors = [{ field: "", code: "ERC721InvalidReceiver", message: "refused" }];
      await change({ status: "failed", error_code: "execution_reverted", errors: JSON.stringify(errors) });
      expect((await api.get(`/v1/requests/${id}`)).body).to.deep.include({
        status: "failed",
        error_code: "execution_reverted",
        error_message: ERRORS.execution_reverted.message,
        errors,
      });
    });
  });

  describe("GET /v1/requests", () => {
    it("lists newest first, filtered by status and type, with the total of the filter", async () => {
      const first = expectAccepted(await api.post("/v1/collections", COLLECTION));
      const contract = await addCollection(api);
      const mint = expectAccepted(await api.post("/v1/nfts", { collection_address: contract, to_address: contract }));
      await api.post("/v1/collections", COLLECTION, { token: api.other.token });
      const last = expectAccepted(await api.post("/v1/collections", COLLECTION));

      const list = async (query: string) => {
        const { body } = await api.get(`/v1/requests?${query}`);
        return { ids: body.requests?.map((request) => request.request_id), total: body.total };
      };
      const all = await list("");
      expect(all.total).to.equal(4);
      expect(all.ids?.[0]).to.equal(last);
      expect(await list("status=pending")).to.deep.equal({ ids: [last, mint, first], total: 3 });
      expect(await list("type=mint")).to.deep.equal({ ids: [mint], total: 1 });
      expect(await list("status=pending&type=collection")).to.deep.equal({ ids: [last, first], total: 2 });
      expect(await list("status=failed")).to.deep.equal({ ids: [], total: 0 });
      expect(await list("status=completed&type=collection")).to.deep.include({ total: 1 });
    });

    it("pages by cursor while new requests arrive", async () => {
      const ids: string[] = [];
      for (let n = 0; n < 4; n++) ids.unshift(expectAccepted(await api.post("/v1/collections", COLLECTION)));
      const first = await api.get("/v1/requests?limit=2");
      await api.post("/v1/collections", COLLECTION);
      const second = await api.get(`/v1/requests?limit=2&cursor=${first.body.next ?? ""}`);
      const seen = [first, second].flatMap(({ body }) => (body.requests ?? []).map((request) => request.request_id));
      expect(seen).to.deep.equal(ids);
    });

    it("lists the requests of a transaction, of this app only", async () => {
      const hash = `0x${"ab".repeat(32)}`;
      const create = async (token: string) => expectAccepted(await api.post("/v1/collections", COLLECTION, { token }));
      const carried = [await create(api.app.token), await create(api.other.token), await create(api.app.token)];
      await create(api.app.token);
      await api.database.write((trx) =>
        trx.updateTable("requests").set({ transaction_hash: hash }).where("id", "in", carried).execute(),
      );

      const list = async (query: string) => {
        const { body } = await api.get(`/v1/requests?transaction_hash=${query}`);
        return { ids: body.requests?.map((request) => request.request_id), total: body.total };
      };
      const mine = [carried[2], carried[0]];
      expect(await list(hash)).to.deep.equal({ ids: mine, total: 2 });
      expect(await list(`0x${"AB".repeat(32)}&status=pending&type=collection`)).to.deep.equal({ ids: mine, total: 2 });
      expect(await list(`${hash}&status=failed`)).to.deep.equal({ ids: [], total: 0 });
      expect(await list(`${hash}&limit=1`)).to.deep.equal({ ids: [carried[2]], total: 2 });
      expect(await list(`0x${"cd".repeat(32)}`)).to.deep.equal({ ids: [], total: 0 });
      expectInvalid(await api.get("/v1/requests?transaction_hash=0x12"), { transaction_hash: "invalid_format" });
    });

    it("lists the requests with a reference, of this app only", async () => {
      const create = async (reference: string | null, token = api.app.token) =>
        expectAccepted(await api.post("/v1/collections", { ...COLLECTION, reference }, { token }));
      const first = await create("order 7&8");
      await create("order 7", api.other.token);
      await create(null);
      const done = await create("order 7&8");
      await api.database.write((trx) =>
        trx.updateTable("requests").set({ status: "failed" }).where("id", "=", done).execute(),
      );
      const last = await create("order 7&8");
      await create("Order 7&8");

      const list = async (query: string, reference = "order 7&8") => {
        const { body } = await api.get(`/v1/requests?reference=${encodeURIComponent(reference)}${query}`);
        return { ids: body.requests?.map((request) => request.request_id), total: body.total, next: body.next };
      };
      expect(await list("")).to.deep.equal({ ids: [last, done, first], total: 3, next: null });
      expect(await list("&status=pending")).to.deep.equal({ ids: [last, first], total: 2, next: null });
      expect(await list("&status=failed&type=collection")).to.deep.equal({ ids: [done], total: 1, next: null });
      expect(await list("&type=mint")).to.deep.equal({ ids: [], total: 0, next: null });
      expect(await list("", "order 7")).to.deep.equal({ ids: [], total: 0, next: null });
      for (const filter of ["", "&type=collection"]) {
        const { ids, total, next } = await list(`${filter}&limit=2`);
        expect({ ids, total }).to.deep.equal({ ids: [last, done], total: 3 });
        expect(await list(`${filter}&cursor=${next ?? ""}`)).to.deep.equal({ ids: [first], total: 3, next: null });
        expect((await list(`${filter}&offset=1&limit=1`)).ids).to.deep.equal([done]);
      }
      const hash = `0x${"ef".repeat(32)}`;
      const carry = { transaction_hash: hash };
      await api.database.write((trx) =>
        trx.updateTable("requests").set(carry).where("id", "in", [first]).where("app_id", "=", api.app.id).execute(),
      );
      expect((await list(`&transaction_hash=${hash}`)).ids).to.deep.equal([first]);
      expect((await list(`&transaction_hash=${hash}`, "other")).ids).to.deep.equal([]);
      for (const [reference, code] of [
        ["", "too_short"],
        ["\0", "invalid_format"],
        ["x".repeat(257), "too_long"],
      ] as const) {
        expectInvalid(await api.get(`/v1/requests?reference=${encodeURIComponent(reference)}`), { reference: code });
      }
    });

    it("refuses unknown filters", async () => {
      expectInvalid(await api.get("/v1/requests?status=done&type=melt"), { status: "invalid", type: "invalid" });
    });
  });

  describe("reference", () => {
    const stored = async (id: string) => {
      const { reference } = (await api.get(`/v1/requests/${id}`)).body as { reference?: string | null };
      return reference;
    };

    it("has no control characters but tabs and line breaks", async () => {
      for (const reference of ["a\u001b[2Jb", "a\u0007", "a\u009bb", "a\u0085b", "a\u007fb"])
        expectInvalid(await api.post("/v1/collections", { ...COLLECTION, reference }), { reference: "invalid_format" });
      const reference = "one\n\ttwo\r\n";
      const id = expectAccepted(await api.post("/v1/collections", { ...COLLECTION, reference }));
      expect(await stored(id)).to.equal(reference);
    });

    it("is taken by every call that creates a request, and by the items of batches", async () => {
      const wallet = await addWallet(api);
      const contract = await addCollection(api);
      for (const tokenId of [1, 2]) await addMint(api, { contract, to: wallet, tokenId, metadata: {} });
      const mint = { collection_address: contract, to_address: wallet };
      const transfer = { from_address: wallet, to_address: randomAddress(), contract_address: contract };
      const patch = (path: string, body: object) => api.call("PATCH", `/v1/collections/${path}`, { body });
      const ids = [
        await api.post("/v1/collections", { ...COLLECTION, reference: "r" }),
        await api.post("/v1/nfts", { ...mint, reference: "r" }),
        await api.post("/v1/transfers", { ...transfer, token_id: 1, reference: "r" }),
        await patch(contract, { description: "new", reference: "r" }),
        await patch(`${contract}/1`, { name: "new", reference: "r" }),
        await api.post(`/v1/collections/${contract}/freeze`, { reference: "r" }),
      ].map(({ body }) => body.request_id ?? "");
      const items = [{ ...mint, reference: "r" }, mint, { ...mint, reference: "x".repeat(257) }];
      const other = await addCollection(api);
      const mints = items.map((item) => ({ ...item, collection_address: other }));
      const results = resultsOf(await api.post("/v1/nfts/batch", { items: mints }));
      expect(results[2]).to.deep.include({ error_code: "validation_failed" });
      const [moved] = resultsOf(
        await api.post("/v1/transfers/batch", { items: [{ ...transfer, token_id: 2, reference: "r" }] }),
      );
      for (const id of [...ids, results[0]?.request_id, moved?.request_id])
        expect(await stored(id ?? "")).to.equal("r");
      expect(await stored(results[1]?.request_id ?? "")).to.equal(null);
      const { body } = await api.get("/v1/requests?reference=r");
      expect(body.total).to.equal(8);
    });

    it("has 1 to 256 characters, also of four bytes each", async () => {
      const create = (reference: string) => api.post("/v1/collections", { ...COLLECTION, reference });
      const longest = "🐈".repeat(256);
      expect(await stored(expectAccepted(await create(longest)))).to.equal(longest);
      const { body } = await api.get(`/v1/requests?reference=${encodeURIComponent(longest)}`);
      expect(body.total).to.equal(1);
      expectInvalid(await create(`${longest}x`), { reference: "too_long" });
      expect(await stored(expectAccepted(await create("")))).to.equal(null);
      expectInvalid(await create("\ud800"), { reference: "invalid_format" });
    });

    it("changes nothing alone, and is a part of what an Idempotency-Key stands for", async () => {
      const contract = await addCollection(api, { metadata: { description: "same" } });
      const { body } = await api.call("PATCH", `/v1/collections/${contract}`, { body: { reference: "r" } });
      expect(body).to.deep.equal({ metadata: { description: "same" }, request_id: null });
      const headers = { "idempotency-key": "one" };
      const create = (reference: string) => api.post("/v1/collections", { ...COLLECTION, reference }, { headers });
      const id = expectAccepted(await create("r"));
      expect(expectAccepted(await create("r"))).to.equal(id);
      expectRefusal(await create("other"), 409, "idempotency_key_reused");
    });
  });

  describe("history", () => {
    it("lists the transfers of a token and of a wallet, newest first, with this app's request ids", async () => {
      const wallet = await addWallet(api);
      const theirs = await addWallet(api, api.other.token);
      const contract = await addCollection(api);
      await addMint(api, { contract, to: wallet, tokenId: 1 });
      const foreign = await addCollection(api, { app: api.other.id });
      await addMint(api, { contract: foreign, to: wallet, tokenId: 9, app: api.other.id });

      const ofWallet = await api.get(`/v1/accounts/${wallet}/history`);
      expect(ofWallet.body).to.include({ total: 2, next: null });
      expect(ofWallet.body.history?.[0]).to.deep.include({
        type: "mint",
        contract_address: foreign,
        token_id: 9,
        quantity: 1,
        from_address: null,
        to_address: wallet,
        request_id: null,
      });
      expect(ofWallet.body.history?.[1]?.request_id).to.match(/^[0-9a-f]{64}$/);
      const ofToken = await api.get(`/v1/collections/${contract}/1/history`);
      expect(ofToken.body.history).to.deep.equal(ofWallet.body.history?.slice(1));
      expectRefusal(await api.get(`/v1/accounts/${theirs}/history`), 404, "not_found");
      expectRefusal(await api.get(`/v1/collections/${contract}/2/history`), 404, "not_found");
    });

    it("still lists a burnt token, and pages by cursor", async () => {
      const [alice, bob] = [await addWallet(api), await addWallet(api)];
      const contract = await addCollection(api);
      await addMint(api, { contract, to: alice, tokenId: 1 });
      await addMove(api, { contract, tokenId: 1, from: alice, to: bob });
      await addMove(api, { contract, tokenId: 1, from: bob, to: null });
      const types: (string | undefined)[] = [];
      let cursor = "";
      do {
        const { body } = await api.get(`/v1/collections/${contract}/1/history?limit=1${cursor}`);
        expect(body.total).to.equal(3);
        types.push(...(body.history ?? []).map((entry) => entry.type));
        cursor = body.next == null ? "" : `&cursor=${body.next}`;
      } while (cursor !== "");
      expect(types).to.deep.equal(["burn", "transfer", "mint"]);
      expect((await api.get(`/v1/accounts/${bob}/history`)).body.total).to.equal(2);
    });
  });
});
