import { expect } from "chai";

import { pruneSome } from "../../../api/store/retention/prune.ts";
import type { Answer } from "../support/api.ts";
import { expectAccepted, expectInvalid, expectRefusal } from "../support/expect.ts";
import { addCollection, addMint, addWallet } from "../support/api-rows.ts";
import { randomAddress } from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

describe("Idempotency-Key", () => {
  const api = useApi({ per: "block" });
  let keys = 0;

  const newKey = () => `key-${(keys += 1).toString()}`;
  const post = (path: string, body: unknown, key: string) =>
    api.post(path, body, { headers: { "idempotency-key": key } });
  const requests = async () => (await api.get("/v1/requests")).body.total ?? 0;

  it("answers a repeated call with the same bytes as the first, on every endpoint that accepts a key", async () => {
    const wallet = await addWallet(api);
    const contract = await addCollection(api);
    for (const tokenId of [1, 2, 3, 4]) await addMint(api, { contract, to: wallet, tokenId });
    const burn = { from_address: wallet, contract_address: contract, token_id: 3 };
    const transfer = { from_address: wallet, to_address: randomAddress(), contract_address: contract, token_id: 1 };
    for (const [path, body] of [
      ["/v1/accounts", { user_identifier: "once" }],
      ["/v1/collections", { type: "ERC721", name: "A", symbol: "AAA" }],
      ["/v1/nfts", { collection_address: contract, to_address: wallet }],
      ["/v1/transfers", transfer],
      ["/v1/nfts/batch", { items: [{ collection_address: contract, to_address: wallet }, {}] }],
      ["/v1/transfers/batch", { items: [{ ...transfer, token_id: 2 }, transfer] }],
      ["/v1/burns", burn],
      ["/v1/burns/batch", { items: [{ ...burn, token_id: 4 }, burn] }],
    ] as const) {
      const key = newKey();
      const first = await post(path, body, key);
      expect(first.status, first.text).to.equal(200);
      const total = await requests();
      const woken = api.notified;
      const again = await post(path, body, key);
      expect({ status: again.status, text: again.text }).to.deep.equal({ status: 200, text: first.text });
      expect(again.headers.get("content-type")).to.equal(first.headers.get("content-type"));
      expect(await requests()).to.equal(total);
      expect(api.notified).to.equal(woken);
    }
  });

  it("refuses a used key with another body or path", async () => {
    const key = newKey();
    await post("/v1/accounts", { user_identifier: "a" }, key);
    expectRefusal(await post("/v1/accounts", { user_identifier: "b" }, key), 409, "idempotency_key_reused");
    const collection = { type: "ERC721", name: "A", symbol: "AAA" };
    expectRefusal(await post("/v1/collections", collection, key), 409, "idempotency_key_reused");
    expect((await api.get("/v1/accounts/user/b")).status).to.equal(404);
  });

  it("neither runs nor answers a repeated call whose long answer was pruned, and still refuses another body", async () => {
    const contract = await addCollection(api);
    const itemOf = () => ({ collection_address: contract, to_address: randomAddress() });
    const items = Array.from({ length: 30 }, itemOf);
    const [long, short] = [newKey(), newKey()];
    expect((await post("/v1/nfts/batch", { items }, long)).status).to.equal(200);
    const brief = await post("/v1/nfts/batch", { items: items.slice(0, 1) }, short);
    const total = await requests();
    const step = await api.database.write(async (trx) => {
      // Older than every request that is under way.
      await trx.updateTable("idempotency_keys").set({ created_at: 0 }).where("key", "in", [long, short]).execute();
      const block = { number: 1, hash: "hash", parent_hash: "parent", timestamp: Date.now() };
      await trx.insertInto("blocks").values(block).execute();
      return pruneSome(trx, "batch_answers", { now: Date.now(), days: 365 });
    });
    expect(step.rows).to.equal(1);
    const refused = await post("/v1/nfts/batch", { items }, long);
    expectRefusal(refused, 410, "answer_expired");
    expect(refused.text).to.contain("nothing was done now");
    expectRefusal(await post("/v1/nfts/batch", { items: items.slice(1) }, long), 409, "idempotency_key_reused");
    expect((await post("/v1/nfts/batch", { items: items.slice(0, 1) }, short)).text).to.equal(brief.text);
    expect(await requests()).to.equal(total);
  });

  describe("given the same JSON in another form", () => {
    const raw = (path: string, text: string, key: string) =>
      api.call("POST", path, { raw: text, headers: { "idempotency-key": key } });
    let contract: string;
    before(async () => {
      contract = await addCollection(api);
    });

    const twice = async (one: string, other: string) => {
      const key = newKey();
      const ends = `"collection_address":"${contract}","to_address":"${randomAddress()}"`;
      const [first, again] = [`{${ends},${one}}`, `{${other},${ends}}`];
      const answer = await raw("/v1/nfts", first, key);
      expectAccepted(answer);
      return { first: answer, again: await raw("/v1/nfts", again, key) };
    };

    for (const [title, one, other] of [
      ["another one in values", '"attributes":[{"x":1,"y":2}]', '"attributes":[{"y":2,"x":1}]'],
      ["other white space", '"name":"A"', '\n  "name" : "A" \n'],
      ["an added empty text", '"name":"A"', '"name":"A","image":""'],
      ["an added null", '"name":"A"', '"name":"A","image":null'],
      ["an escaped letter", '"name":"A"', '"name":"\\u0041"'],
    ] as const) {
      it(`gives the first answer: another order of keys, and ${title}`, async () => {
        const { first, again } = await twice(one, other);
        expect(again.text).to.equal(first.text);
      });
    }

    it("compares the items of a batch in the same way", async () => {
      const key = newKey();
      const to = randomAddress();
      const first = await raw(
        "/v1/nfts/batch",
        `{"items":[{"collection_address":"${contract}","to_address":"${to}"}]}`,
        key,
      );
      expect(first.status, first.text).to.equal(200);
      const again = `{ "items": [{"to_address":"${to}","name":null,"collection_address":"${contract}"}] }`;
      expect((await raw("/v1/nfts/batch", again, key)).text).to.equal(first.text);
    });

    for (const [title, one, other] of [
      ["another order of a list", '"attributes":[1,2]', '"attributes":[2,1]'],
      ["a null within a value", '"attributes":[{}]', '"attributes":[{"a":null}]'],
      [
        "another last digit of a large number",
        '"attributes":[12345678901234567890]',
        '"attributes":[12345678901234567891]',
      ],
    ] as const) {
      it(`refuses ${title}`, async () => {
        expectRefusal((await twice(one, other)).again, 409, "idempotency_key_reused");
      });
    }

    it("compares keys of earlier versions by their bytes", async () => {
      const key = newKey();
      await raw("/v1/accounts", '{"user_identifier":"older"}', key);
      const stored = api.database.read.selectFrom("idempotency_keys").select("fingerprint").where("key", "=", key);
      const [fingerprint = ""] = (await stored.executeTakeFirstOrThrow()).fingerprint.split(" ");
      await api.database.write((trx) =>
        trx.updateTable("idempotency_keys").set({ fingerprint }).where("key", "=", key).execute(),
      );
      expect((await raw("/v1/accounts", '{"user_identifier":"older"}', key)).status).to.equal(200);
      expectRefusal(await raw("/v1/accounts", '{"user_identifier": "older"}', key), 409, "idempotency_key_reused");
    });
  });

  describe("X-Idempotency-Key", () => {
    const send = (headers: Record<string, string>) => api.post("/v1/accounts", {}, { headers });

    it("is the same header", async () => {
      const key = newKey();
      const first = await send({ "x-idempotency-key": key });
      expect(first.status, first.text).to.equal(200);
      for (const headers of [
        { "x-idempotency-key": key },
        { "idempotency-key": key },
        { "idempotency-key": key, "x-idempotency-key": key },
      ]) {
        expect((await send(headers)).text).to.equal(first.text);
      }
    });

    it("must not differ from Idempotency-Key", async () => {
      const answer = await send({ "idempotency-key": newKey(), "x-idempotency-key": newKey() });
      expectInvalid(answer, { "X-Idempotency-Key": "conflict" });
      expectInvalid(await send({ "x-idempotency-key": "a b" }), { "X-Idempotency-Key": "invalid_format" });
    });
  });

  it("does not use up the key of a refused call", async () => {
    const key = newKey();
    const collection = randomAddress();
    const body = { collection_address: collection, to_address: randomAddress() };
    expectRefusal(await post("/v1/nfts", body, key), 422, "collection_not_found");
    await post("/v1/accounts", { user_identifier: "taken" }, newKey());
    const second = newKey();
    expectRefusal(await post("/v1/accounts", { user_identifier: "taken" }, second), 422, "user_identifier_taken");
    expect((await post("/v1/accounts", { user_identifier: "free" }, second)).status).to.equal(200);
  });

  it("repeats the answer even when the rules would now refuse the call", async () => {
    const contract = await addCollection(api, { cap: 1 });
    const body = { collection_address: contract, to_address: randomAddress() };
    const key = newKey();
    const first = await post("/v1/nfts", body, key);
    expectAccepted(first);
    expectRefusal(await post("/v1/nfts", body, newKey()), 422, "supply_exceeded");
    expect((await post("/v1/nfts", body, key)).text).to.equal(first.text);
  });

  it("stores neither the body nor a plain hash of it", async () => {
    const key = newKey();
    await post("/v1/accounts", { user_identifier: "private person" }, key);
    const row = await api.database.read
      .selectFrom("idempotency_keys")
      .selectAll()
      .where("key", "=", key)
      .executeTakeFirstOrThrow();
    expect(row.fingerprint).to.match(/^test:[0-9a-f]{64} test:[0-9a-f]{64}$/);
  });

  for (const [title, make] of [
    ["wallets", () => ({ path: "/v1/accounts", body: {} })],
    ["collections", () => ({ path: "/v1/collections", body: { type: "ERC1155", name: "R", symbol: "RRR" } })],
  ] as const) {
    it(`makes one of 50 equal concurrent ${title}`, async () => {
      const { path, body } = make();
      const key = newKey();
      const before = await count();
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(path, body, key)));
      expect(new Set(answers.map((answer: Answer) => answer.status))).to.deep.equal(new Set([200]));
      expect(new Set(answers.map((answer: Answer) => answer.text)).size).to.equal(1);
      expect(await count()).to.equal(before + 1);
    });
  }

  it("accepts 1 to 255 visible ASCII characters", async () => {
    expect((await post("/v1/accounts", {}, "~".repeat(255))).status).to.equal(200);
    for (const key of ["", "x".repeat(256), "a b", "schlüssel"]) {
      const answer = await post("/v1/accounts", {}, key);
      expectInvalid(answer, { "Idempotency-Key": "invalid_format" });
    }
  });

  async function count(): Promise<number> {
    return (await requests()) + ((await api.get("/v1/accounts")).body.total ?? 0);
  }
});
