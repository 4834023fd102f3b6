import { expect } from "chai";

import { sealedPlace } from "../../../api/keys/sealer.ts";
import { DEFAULT_LIMITS, MAX_BATCH_ITEM_ERRORS, MAX_BATCH_ITEMS } from "../../../api/config/limits.ts";
import { addToCounter, counterKeys } from "../../../api/store/db/counters.ts";
import { addCollection } from "../support/api-rows.ts";
import { RELAY } from "../support/api.ts";
import { useApi } from "../support/use-api.ts";
import { outcomes, resultsOf, times } from "../support/batches.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";
import { randomAddress } from "../support/rows.ts";

describe("batches", () => {
  const api = useApi({ per: "block" });
  const to = randomAddress();

  const mint = (items: unknown, key?: string) =>
    api.post("/v1/nfts/batch", { items }, key === undefined ? {} : { headers: { "idempotency-key": key } });
  const requests = async () => (await api.get("/v1/requests")).body.total ?? 0;
  const into = (collection: string, fields: object = {}) => ({
    collection_address: collection,
    to_address: to,
    ...fields,
  });

  describe("POST /v1/nfts/batch", () => {
    it("answers each item in order, with its request or with the error of the single call", async () => {
      const [erc721, erc1155] = [await addCollection(api), await addCollection(api, { type: "ERC1155" })];
      const items = [
        into(erc721),
        into(randomAddress()),
        { ...into(erc721), typo: 1 },
        into(erc721, { to_address: RELAY }),
        "not an object",
        null,
        { collection_address: erc1155, token_id: 7, initial_supply: 2, initial_owner: to },
        { collection_address: erc1155, token_id: 7, initial_supply: 2, initial_owner: to },
        into(erc721, { name: "last", unlockable_content: "secret" }),
      ];
      const answer = await mint(items);
      expect(outcomes(answer)).to.deep.equal([
        "ok",
        "collection_not_found collection_address",
        "validation_failed typo",
        "validation_failed to_address",
        "validation_failed body",
        "validation_failed body",
        "ok",
        "token_already_exists token_id",
        "ok",
      ]);
      for (const [index, item] of items.entries()) {
        const result = resultsOf(answer)[index];
        if (result?.error_code === undefined) continue;
        expect(result, JSON.stringify(item)).to.deep.equal((await api.post("/v1/nfts", item)).body);
      }
      const ids = resultsOf(answer).flatMap(({ request_id: id }) => id ?? []);
      const stored = await api.database.read
        .selectFrom("requests")
        .select(["id", "unlockable"])
        .where("id", "in", ids)
        .orderBy("seq")
        .execute();
      expect(stored.map(({ id }) => id)).to.deep.equal(ids);
      const { id = "", unlockable } = stored[2] ?? {};
      const opened = await api.sealer.open(unlockable ?? "", sealedPlace("unlockable", id), () =>
        Promise.resolve(false),
      );
      expect(opened).to.equal("secret");
    });

    it("refuses the items after the one that reaches the supply", async () => {
      const collection = await addCollection(api, { cap: 3 });
      expect(outcomes(await mint(times(5, into(collection))))).to.deep.equal([
        "ok",
        "ok",
        "ok",
        ...times(2, "supply_exceeded collection_address"),
      ]);
      expect(outcomes(await mint([into(collection)]))).to.deep.equal(["supply_exceeded collection_address"]);
    });

    it("copies media as a single call does", async () => {
      const collection = await addCollection(api);
      const items = [
        into(collection, { copy_media: true, image: "https://cats.example/1.png" }),
        into(collection, { copy_media: true, image: "ftp://cats.example/1.png" }),
      ];
      const answer = await mint(items);
      expect(outcomes(answer)).to.deep.equal(["ok", "validation_failed image"]);
      const jobs = await api.database.read.selectFrom("media_jobs").select("request_id").execute();
      expect(jobs.map(({ request_id: id }) => id)).to.deep.equal([resultsOf(answer)[0]?.request_id]);
    });

    it("shortens the errors of an item", async () => {
      const typos = Object.fromEntries(times(50, 0).map((_zero, index) => [`typo${index.toString()}`, 1]));
      const [result] = resultsOf(await mint([{ ...into(randomAddress()), ...typos }]));
      expect(result?.errors).to.have.length(MAX_BATCH_ITEM_ERRORS);
    });

    it("lists one field of an item when the errors are long already", async () => {
      const typos = Object.fromEntries(times(10, 0).map((_zero, index) => ["x".repeat(190) + index.toString(), 1]));
      const answer = await mint(times(MAX_BATCH_ITEMS, typos));
      const lengths = resultsOf(answer).map(({ errors }) => errors?.length);
      expect(lengths[0]).to.equal(MAX_BATCH_ITEM_ERRORS);
      expect(lengths.at(-1)).to.equal(1);
      expect(answer.text.length).to.be.below(700_000);
    });
  });

  describe("the call as a whole", () => {
    it("is refused without a list of 1 to 1,000 items, and stores nothing", async () => {
      const item = into(await addCollection(api));
      const before = await requests();
      for (const path of ["/v1/nfts/batch", "/v1/transfers/batch"]) {
        expectInvalid(await api.post(path, {}), { items: "required" });
        expectInvalid(await api.post(path, { items: null }), { items: "required" });
        expectInvalid(await api.post(path, { items: {} }), { items: "wrong_type" });
        expectInvalid(await api.post(path, { items: [] }), { items: "too_short" });
        expectInvalid(await api.post(path, { items: times(MAX_BATCH_ITEMS + 1, item) }), { items: "too_long" });
        expectInvalid(await api.post(path, { items: [item], item }), { item: "unknown_field" });
        expectInvalid(await api.post(path, [item]), { body: "wrong_type" });
      }
      expect(await requests()).to.equal(before);
    });

    it("may be larger than a single call, up to its own limit", async () => {
      const collection = await addCollection(api);
      const items = times(200, into(collection, { description: "d".repeat(8_000) }));
      expect(new Set(outcomes(await mint(items)))).to.deep.equal(new Set(["ok"]));
      expectRefusal(await mint(times(6, items).flat()), 413, "payload_too_large");
    });
  });

  describe("given an Idempotency-Key", () => {
    it("repeats the results, errors included, and accepts nothing again", async () => {
      const collection = await addCollection(api, { cap: 1 });
      const items = [into(collection), into(collection)];
      const first = await mint(items, "batch-1");
      expect(outcomes(first)).to.deep.equal(["ok", "supply_exceeded collection_address"]);
      const before = await requests();
      expect((await mint(items, "batch-1")).text).to.equal(first.text);
      expect(await requests()).to.equal(before);
      expectRefusal(await mint([into(collection)], "batch-1"), 409, "idempotency_key_reused");
      expectRefusal(
        await api.post("/v1/transfers/batch", { items }, { headers: { "idempotency-key": "batch-1" } }),
        409,
        "idempotency_key_reused",
      );
    });

    it("leaves the key free when no item was accepted", async () => {
      const items = [into(randomAddress())];
      expect(outcomes(await mint(items, "batch-2"))).to.deep.equal(["collection_not_found collection_address"]);
      expect(outcomes(await mint([into(await addCollection(api))], "batch-2"))).to.deep.equal(["ok"]);
    });

    it("accepts one of two that arrive at the same time", async () => {
      const collection = await addCollection(api);
      const items = times(3, into(collection));
      const [one, two] = await Promise.all([mint(items, "batch-3"), mint(items, "batch-3")]);
      expect(outcomes(one)).to.deep.equal(["ok", "ok", "ok"]);
      expect(two.text).to.equal(one.text);
    });
  });

  describe("given no room", () => {
    const fill = (delta: number) => api.database.write((trx) => addToCounter(trx, counterKeys.backlog(), delta));

    it("refuses the call when no item has any, with Retry-After", async () => {
      const collection = await addCollection(api);
      const used = await api.database.read
        .selectFrom("counters")
        .select((eb) => eb.fn.sum("value").as("used"))
        .where("key", "=", counterKeys.backlog())
        .executeTakeFirst();
      const room = DEFAULT_LIMITS.backlog - Number(used?.used ?? 0);
      // One app may not use the last fifth alone: see the limits.
      await fill(room);
      const answer = await mint(times(2, into(collection)));
      await fill(-room);
      expectRefusal(answer, 503, "unavailable");
      expect(answer.headers.get("retry-after")).to.equal("30");
      expect((await mint([into(randomAddress())])).headers.get("retry-after")).to.equal(null);
    });
  });
});
