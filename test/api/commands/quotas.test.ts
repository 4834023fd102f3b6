import { expect } from "chai";

import { acceptGroup, type Item } from "../../../api/commands/accept.ts";
import { createApiToken } from "../../../api/commands/api-tokens.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { createWalletDeriver } from "../../../api/keys/wallet-deriver.ts";
import type { Shape } from "../../../client/client.ts";
import { ApiError } from "../../../api/domain/error-codes.ts";
import type { Quotas } from "../../../api/domain/quota.ts";
import { compareCounters } from "../../../api/store/reconcile/compare.ts";
import { replaceCollectionMetadata } from "../../../api/store/requests/metadata.ts";
import { failWithoutEffect } from "../../../api/store/requests/request-state.ts";
import { lockQuotas, setQuotas } from "../../../api/store/apps/quotas.ts";
import { insertWallets } from "../../../api/store/apps/wallets.ts";
import type { Database } from "../../../api/store/db/database.ts";
import type { Trx } from "../../../api/store/db/sql.ts";
import { countCopied } from "../../../api/store/media/media.ts";
import { describeOn } from "../../support/engine.ts";
import { overlap, valueOf } from "../../support/overlap.ts";
import { useTwoProcesses } from "../../support/two-processes.ts";
import type { Answer, Tenant } from "../support/api.ts";
import { addCollection, addMint } from "../support/api-rows.ts";
import { acceptEach, callOf, NO_LIMITS } from "../support/items.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { failRequest } from "../support/fail-request.ts";
import { startSession } from "../support/console.ts";
import {
  addApp,
  addCollection as addCollectionRow,
  APP,
  creation,
  randomAddress,
  requestRow,
} from "../support/rows.ts";
import { useApi } from "../support/use-api.ts";

const MEDIA = { image: "https://example.com/cat.png", copy_media: true };

const FAILED = { ok: false, errorCode: "receiver_rejected", errors: null } as const;

function set(database: Database, app: string, quotas: Partial<Quotas>): Promise<void> {
  return database.write((trx) => setQuotas(trx, app, quotas));
}

describe("quotas of an app", () => {
  const api = useApi();
  let collection: string;
  beforeEach(async () => {
    collection = await addCollection(api);
  });

  const account = (user: string | null, { token }: Tenant = api.app, headers: Record<string, string> = {}) =>
    api.post("/v1/accounts", user === null ? {} : { user_identifier: user }, { token, headers });
  const mint = (fields: object = MEDIA) =>
    api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress(), ...fields });
  const quotas = async () => ((await api.get("/v1/usage")).body as unknown as Shape<"Usage">).quotas;
  const messageOf = ({ text }: { text: string }) => (JSON.parse(text) as { message: string }).message;

  /** So many of the answers refuse, each with this message. */
  function expectOverQuota(answers: readonly Answer[], count: number, message: string, retryAfter: string): void {
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(count);
    for (const answer of refused) {
      expectRefusal(answer, 429, "quota_exceeded");
      expect(messageOf(answer)).to.contain(message);
      expect(answer.headers.get("retry-after")).to.equal(retryAfter);
    }
  }

  it("create exactly as many wallets as the quota allows, also within a group of calls", async () => {
    await set(api.database, api.app.id, { wallets: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => account(null)));
    expectOverQuota(answers, 5, "quota `wallets`, which is 3", "3600");
    expect((await quotas()).wallets).to.deep.equal({ used: 3, limit: 3 });
    expect((await account(null, api.other)).status).to.equal(200);
    await set(api.database, api.app.id, { wallets: null });
    expect((await account(null)).status).to.equal(200);
  });

  it("answer calls that need no further wallet as without a quota", async () => {
    await set(api.database, api.app.id, { wallets: 1 });
    const key = { "idempotency-key": "one" };
    const first = await account("alice", api.app, key);
    expect((await account("alice", api.app, key)).text).to.equal(first.text);
    expectRefusal(await account("alice"), 422, "user_identifier_taken");
    const group = await Promise.all([account("bob"), account("bob"), account("alice")]);
    expect(group.map(({ body }) => body.error_code)).to.deep.equal([
      "quota_exceeded",
      "quota_exceeded",
      "user_identifier_taken",
    ]);
  });

  it("accept exactly as many requests that wait for media as the quota allows", async () => {
    await set(api.database, api.app.id, { media_requests: 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => mint()));
    expectOverQuota(answers, 4, "quota `media_requests`, which is 2", "30");
    expect((await quotas()).media_requests).to.deep.equal({ used: 2, limit: 2 });
    expectAccepted(await mint({}));
    expectRefusal(await api.post(`/v1/collections/${collection}/freeze`, {}), 429, "quota_exceeded");
    const { metadata_frozen: frozen } = await api.database.read
      .selectFrom("collections")
      .select("metadata_frozen")
      .where("address", "=", collection)
      .executeTakeFirstOrThrow();
    expect(frozen).to.equal(0);
  });

  it("refuse to copy media once the app stores as many bytes as it may", async () => {
    await set(api.database, api.app.id, { media_bytes: 10 });
    const file = { cid: "cat", type: "image/png", size: 6 };
    const copy = (...files: (typeof file)[]) =>
      api.database.write((trx) => countCopied(trx, api.app.id, files, Date.now()));
    await copy(file, file);
    await copy(file);
    expect((await quotas()).media_bytes).to.deep.equal({ used: 6, limit: 10 });
    expectAccepted(await mint());
    await copy({ ...file, cid: "dog", size: 4 });
    const refused = await mint();
    expectRefusal(refused, 429, "quota_exceeded");
    expect(messageOf(refused)).to.contain("quota `media_bytes`, which is 10");
    expectAccepted(await mint({}));
  });

  const fail = (id: string) => failRequest(api, id, "receiver_rejected");
  /** The totals that reconcile would repair. */
  const wrongTotals = async () =>
    (await api.database.write((trx) => compareCounters(trx, false))).map(({ what }) => what);
  const bytesOf = (metadata: object) => Buffer.byteLength(JSON.stringify(metadata));

  describe("stored_bytes", () => {
    const CAT = { name: "Katze \u{1F408}" };
    // The collection of these tests has `{}` as metadata.
    const OF_COLLECTION = 2;

    it("counts metadata in bytes of UTF-8, and accepts exactly what fits, also within a group of calls", async () => {
      expect(bytesOf(CAT)).to.equal(21);
      await set(api.database, api.app.id, { stored_bytes: OF_COLLECTION + 3 * 21 + 20 });
      const answers = await Promise.all(Array.from({ length: 6 }, () => mint(CAT)));
      expectOverQuota(answers, 3, "no room left for this in its quota `stored_bytes`, which is 85", "3600");
      expect((await quotas()).stored_bytes).to.deep.equal({ used: 65, limit: 85 });
      expectAccepted(await mint({ name: "123456789" }));
      expect((await quotas()).stored_bytes.used).to.equal(85);
      expectRefusal(await mint({}), 429, "quota_exceeded");
      await set(api.database, api.app.id, { stored_bytes: null });
      expectAccepted(await mint({}));
      expect(await wrongTotals()).to.deep.equal([]);
    });

    it("counts unlockable content by its own length, not by that of its encryption", async () => {
      for (const content of ["a", "four", "\u00e9\u00e9\u00e9"]) {
        const { used } = (await quotas()).stored_bytes;
        expectAccepted(await mint({ unlockable_content: content }));
        expect((await quotas()).stored_bytes.used, content).to.equal(used + 2 + Buffer.byteLength(content));
      }
    });

    it("gives back what belongs to a request that fails", async () => {
      await set(api.database, api.app.id, { stored_bytes: OF_COLLECTION + 21 });
      const id = expectAccepted(await mint(CAT));
      expectRefusal(await mint(CAT), 429, "quota_exceeded");
      await fail(id);
      expect((await quotas()).stored_bytes.used).to.equal(OF_COLLECTION);
      expectAccepted(await mint(CAT));
      expect(await wrongTotals()).to.deep.equal([]);
    });

    it("refuses the items of a batch that do not fit, and accepts the others", async () => {
      await set(api.database, api.app.id, { stored_bytes: OF_COLLECTION + 31 });
      const item = (name: string) => ({ collection_address: collection, to_address: randomAddress(), name });
      const answer = await api.post("/v1/nfts/batch", { items: [item("1234567"), item("x".repeat(40)), item("12")] });
      const { results } = answer.body as unknown as { results: { error_code?: string }[] };
      expect(results.map(({ error_code: code }) => code)).to.deep.equal([undefined, "quota_exceeded", undefined]);
      expect(answer.headers.get("retry-after")).to.equal("3600");
      expect((await quotas()).stored_bytes.used).to.equal(OF_COLLECTION + 31);
    });

    for (const steward of [true, false]) {
      describe(`given a change of metadata that ${steward ? "is" : "is not"} announced on chain`, () => {
        it("refuses a growth that does not fit and changes nothing then; what shrinks is always accepted", async () => {
          const contract = await addCollection(api, { steward, metadata: { description: "1234" } });
          await addMint(api, { contract, to: randomAddress(), metadata: { name: "1" } });
          const patch = (body: object, token = "") =>
            api.call("PATCH", `/v1/collections/${contract}${token}`, { body });
          const before = (await quotas()).stored_bytes.used;
          const limit = before + 3 + bytesOf({ name: "22" });
          await set(api.database, api.app.id, { stored_bytes: limit });
          const refused = await patch({ description: "123456789012345678901" });
          expectRefusal(refused, 429, "quota_exceeded");
          expect(messageOf(refused)).to.contain("quota `stored_bytes`");
          expect((await api.get(`/metadata/31337/${contract}`, { token: null })).text).to.contain('"1234"');
          expect((await patch({ description: "1234567" })).status).to.equal(200);
          expect((await patch({ name: "22" }, "/1")).status).to.equal(200);
          expect((await quotas()).stored_bytes.used).to.equal(limit);
          expectRefusal(await patch({ name: "333" }, "/1"), 429, "quota_exceeded");
          await set(api.database, api.app.id, { stored_bytes: 0 });
          expect((await patch({ description: "1" })).status).to.equal(200);
          expect((await quotas()).stored_bytes.used).to.equal(limit - 6);
          expect((await wrongTotals()).filter((what) => what.includes("stored-bytes"))).to.deep.equal([]);
        });
      });
    }
  });

  it("limit the collections and the mints that did not fail, exactly", async () => {
    await set(api.database, api.app.id, { collections: 2, mints: 2 });
    const create = () => api.post("/v1/collections", { type: "ERC721", name: "Cats", symbol: "CAT" });
    for (const [name, call, used] of [
      ["collections", create, 1],
      ["mints", () => mint({}), 0],
    ] as const) {
      expect((await quotas())[name]).to.deep.equal({ used, limit: 2 });
      const answers = await Promise.all([call(), call(), call()]);
      const accepted = answers.filter(({ status }) => status === 200);
      expect(accepted).to.have.length(2 - used);
      const refused = answers.find(({ status }) => status !== 200)!;
      expectRefusal(refused, 429, "quota_exceeded");
      expect(messageOf(refused)).to.contain(`quota \`${name}\`, which is 2`);
      expect((await quotas())[name].used).to.equal(2);
      await fail(accepted[0]!.body.request_id ?? "");
      expect((await quotas())[name].used).to.equal(1);
      expectAccepted(await call());
      expectRefusal(await call(), 429, "quota_exceeded");
    }
  });

  it("limit the tokens that a session creates: revoked and expired ones make room", async () => {
    const session = await startSession(api);
    const create = async () => session.call("POST", "/v1/tokens", { body: { scopes: ["read"], expires_in_days: 1 } });
    await set(api.database, api.app.id, { api_tokens: 3 });
    const answers = await Promise.all([create(), create(), create()]);
    expect(answers.filter(({ status }) => status === 200)).to.have.length(2);
    const refused = await create();
    expectRefusal(refused, 429, "quota_exceeded");
    expect(messageOf(refused)).to.contain("quota `api_tokens`, which is 3. Revoke tokens");
    expect((await quotas()).api_tokens).to.deep.equal({ used: 3, limit: 3 });
    const made = answers.flatMap(({ status, body }) => (status === 200 ? [body as { token_id?: string }] : []));
    await session.call("DELETE", `/v1/tokens/${String(made[0]?.token_id)}`);
    expect((await create()).status).to.equal(200);
    await api.database.write((trx) =>
      trx
        .updateTable("api_tokens")
        .set({ expires_at: Date.now() })
        .where("id", "=", String(made[1]?.token_id))
        .execute(),
    );
    expect((await quotas()).api_tokens.used).to.equal(2);
    expect((await create()).status).to.equal(200);
    expectRefusal(await create(), 429, "quota_exceeded");
  });
});

function waiting(id: string): Item {
  return { id, appId: APP, type: "collection", command: creation(), waitsForMedia: true };
}

/** The database for code that begins its own transaction. */
function inTransaction(database: Database, trx: Trx): Database {
  return { ...database, write: (operation) => operation(trx) };
}

describeOn("postgres", "quotas under calls of two processes", () => {
  const two = useTwoProcesses(addApp);
  const accept = (id: string) => two.other.write((trx) => acceptEach(trx, [waiting(id)], NO_LIMITS, 1));

  it("do not make the calls of an app without a quota wait", async () => {
    await set(two.one, APP, { wallets: 1 });
    const { second, waited } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [waiting("first")], NO_LIMITS, 1),
      () => accept("second"),
    );
    expect([waited, valueOf(second)]).to.deep.equal([false, ["accepted"]]);
  });

  const limited: [keyof Quotas, number][] = [
    ["media_requests", 1],
    ["collections", 1],
    ["stored_bytes", 3],
  ];
  for (const [name, limit] of limited) {
    it(`accept no request too many (${name})`, async () => {
      await set(two.one, APP, { [name]: limit });
      const { first, second, waited } = await overlap(
        two.one,
        (trx) => acceptEach(trx, [waiting("first")], NO_LIMITS, 1),
        () => accept("second"),
      );
      expect([waited, valueOf(first)]).to.deep.equal([true, ["accepted"]]);
      expect(valueOf(second)[0]).to.match(
        new RegExp(`^quota_exceeded: .*\`${name}\`, which is ${limit.toString()}\\.`),
      );
    });
  }

  it("create no token too many", async () => {
    await set(two.one, APP, { api_tokens: 1 });
    const manager = { appId: APP, scopes: ["read"] } as const;
    const wish = { name: "token", scopes: ["read"], expiresInDays: null, ratePerMinute: null } as const;
    const { second, waited } = await overlap(
      two.one,
      async (trx, meet) => {
        await createApiToken({ database: inTransaction(two.one, trx) }, manager, wish);
        await meet();
      },
      () => createApiToken({ database: two.other }, manager, wish),
    );
    expect(waited).to.equal(true);
    expect(() => valueOf(second)).to.throw("quota `api_tokens`, which is 1");
  });

  it("count nothing of a request that fails while its metadata are changed", async () => {
    const address = await addCollectionRow(two.one, { metadata: { description: "old" } });
    const collection = await two.one.read
      .selectFrom("collections")
      .selectAll()
      .where("address", "=", address)
      .executeTakeFirstOrThrow();
    await two.one.write((trx) => trx.updateTable("requests").set({ status: "processing" }).execute());
    const request = await requestRow(two.one, collection.request_id ?? "");
    const { second, waited } = await overlap(
      two.one,
      (trx) => replaceCollectionMetadata(trx, collection, { description: "much longer" }),
      () => two.other.write((trx) => failWithoutEffect(trx, [{ request, outcome: FAILED }], 2)),
    );
    expect(valueOf(second)).to.have.length(1);
    expect(waited).to.equal(true);
    const wrong = await two.one.write((trx) => compareCounters(trx, false));
    expect(wrong.filter(({ what }) => what.includes("stored-bytes"))).to.deep.equal([]);
  });

  it("create no wallet too many", async () => {
    await set(two.one, APP, { wallets: 1 });
    const deriver = createWalletDeriver(createKeyring(newSeedPhrase()).walletsPublicKey);
    const stored = { appId: APP, userIdentifier: "first", path: "0/0/1", address: randomAddress() };
    const { second, waited } = await overlap(
      two.one,
      async (trx) => {
        await lockQuotas(trx, [APP]);
        await insertWallets(trx, [stored], 1);
      },
      async () => {
        const wallet = { appId: APP, userIdentifier: null, ...deriver.derive(APP, null) };
        return two.other.write((trx) => acceptGroup(trx, [{ ...callOf(APP, []), wallet }], NO_LIMITS, 1));
      },
    );
    expect(waited).to.equal(true);
    expect(valueOf(second)).to.have.length(1);
    expect(valueOf(second)[0])
      .to.be.instanceOf(ApiError)
      .and.have.property("message")
      .that.contains("`wallets`, which is 1");
  });
});
