import { expect } from "chai";

import type { Candidate } from "../../../api/commands/accept-group.ts";
import { WalletQueue } from "../../../api/commands/create-wallet.ts";
import { createKeyring } from "../../../api/keys/keyring.ts";
import { newSeedPhrase } from "../../../api/keys/seed-file.ts";
import { createWalletDeriver } from "../../../api/keys/wallet-deriver.ts";
import type { Shape } from "../../../api/client/client.ts";
import type { Quotas } from "../../../api/domain/quota.ts";
import { lockQuotas, setQuotas } from "../../../api/store/apps/quotas.ts";
import { insertWallets } from "../../../api/store/apps/wallets.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { countCopied } from "../../../api/store/media/media.ts";
import { describeOn } from "../../support/engine.ts";
import { overlap, valueOf } from "../../support/overlap.ts";
import { useTwoProcesses } from "../../support/two-processes.ts";
import { type TestApi, type Tenant, startApi } from "../support/api.ts";
import { addCollection } from "../support/api-rows.ts";
import { acceptEach } from "../support/candidates.ts";
import { expectAccepted, expectRefusal } from "../support/expect.ts";
import { addApp, APP, creation, randomAddress } from "../support/rows.ts";

const MEDIA = { image: "https://example.com/cat.png", copy_media: true };

function set(database: Database, app: string, quotas: Partial<Quotas>): Promise<void> {
  return database.write((trx) => setQuotas(trx, app, quotas));
}

describe("quotas of an app", () => {
  let api: TestApi;
  let collection: string;
  beforeEach(async () => {
    api = await startApi();
    collection = await addCollection(api);
  });
  afterEach(() => api.close());

  const account = (user: string | null, { token }: Tenant = api.app, headers: Record<string, string> = {}) =>
    api.post("/v1/accounts", user === null ? {} : { user_identifier: user }, { token, headers });
  const mint = (fields: object = MEDIA) =>
    api.post("/v1/nfts", { collection_address: collection, to_address: randomAddress(), ...fields });
  const quotas = async () => ((await api.get("/v1/usage")).body as unknown as Shape<"Usage">).quotas;
  const messageOf = ({ text }: { text: string }) => (JSON.parse(text) as { message: string }).message;

  it("create exactly as many wallets as the quota allows, also within a group of calls", async () => {
    await set(api.database, api.app.id, { wallets: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => account(null)));
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(5);
    for (const answer of refused) {
      expectRefusal(answer, 429, "quota_exceeded");
      expect(messageOf(answer)).to.contain("quota `wallets`, which is 3");
      expect(answer.headers.get("retry-after")).to.equal("3600");
    }
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
    const refused = answers.filter(({ status }) => status !== 200);
    expect(refused).to.have.length(4);
    for (const answer of refused) {
      expectRefusal(answer, 429, "quota_exceeded");
      expect(messageOf(answer)).to.contain("quota `media_requests`, which is 2");
      expect(answer.headers.get("retry-after")).to.equal("30");
    }
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
});

function waiting(id: string): Candidate {
  const nothing = { unlockable: null, collection: null, tokenId: null };
  return { id, appId: APP, type: "collection", command: creation(), waitsForMedia: true, ...nothing };
}

describeOn("postgres", "quotas under calls of two processes", () => {
  const limits = { backlog: 1_000, mediaBacklog: 1_000, appGasPerDay: null };
  const two = useTwoProcesses(async (one) => {
    await addApp(one);
  });
  const accept = (id: string) => two.other.write((trx) => acceptEach(trx, [waiting(id)], limits, 1));

  it("are spent once", async () => {
    await set(two.one, APP, { media_requests: 1 });
    const { first, second, waited } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [waiting("first")], limits, 1),
      () => accept("second"),
    );
    expect(valueOf(first)).to.deep.equal([{ kind: "accepted" }]);
    expect(waited).to.equal(true);
    expect(valueOf(second)).to.deep.equal([{ kind: "over-quota", quota: { name: "media_requests", limit: 1 } }]);
  });

  it("do not make the calls of an app without a quota wait", async () => {
    await set(two.one, APP, { wallets: 1 });
    const { second, waited } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [waiting("first")], limits, 1),
      () => accept("second"),
    );
    expect([waited, valueOf(second)]).to.deep.equal([false, [{ kind: "accepted" }]]);
  });

  it("create no wallet too many", async () => {
    await set(two.one, APP, { wallets: 1 });
    const deriver = createWalletDeriver(createKeyring(newSeedPhrase()).walletsPublicKey);
    const stored = { app_id: APP, user_identifier: "first", path: "0/0/1", created_at: 1 };
    const { second, waited } = await overlap(
      two.one,
      async (trx) => {
        await lockQuotas(trx, [APP]);
        await insertWallets(trx, [{ ...stored, address: randomAddress() }]);
      },
      async () => {
        const queue = new WalletQueue(two.other, deriver);
        const { address, path } = await queue.derive({ appId: APP, userIdentifier: null });
        return queue.add({
          wallet: { address, path, appId: APP, userIdentifier: null },
          credential: null,
          answer: null,
        });
      },
    );
    expect(waited).to.equal(true);
    expect(valueOf(second)).to.deep.equal({ kind: "over-quota", quota: { name: "wallets", limit: 1 } });
  });
});
