import { expect } from "chai";

import { acceptGroup, type Item } from "../../../api/commands/accept.ts";
import { keyOf } from "../../../api/commands/idempotency.ts";
import { renameWallet } from "../../../api/commands/rename-wallet.ts";
import { ApiError } from "../../../api/domain/error-codes.ts";
import { isError } from "../../../api/commands/or-error.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { issueToken } from "../../../api/commands/api-tokens.ts";
import { removeApp, rotateToken } from "../../../api/operate/apps.ts";
import { estimateGas } from "../../../api/domain/gas-estimate.ts";
import { lockApiToken, revokeApiToken } from "../../../api/store/apps/api-tokens.ts";
import { deleteApp, lockApp } from "../../../api/store/apps/apps.ts";
import { setQuotas } from "../../../api/store/apps/quotas.ts";
import { insertWallets, type NewWallet, setUserIdentifiers } from "../../../api/store/apps/wallets.ts";
import { markRetried } from "../../../api/store/requests/request-state.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { compareCounters } from "../../../api/store/reconcile/compare.ts";
import { describeOn } from "../../support/engine.ts";
import { overlap, valueOf } from "../../support/overlap.ts";
import { useTwoProcesses } from "../../support/two-processes.ts";
import { acceptEach, callOf, callsOf, NO_LIMITS } from "../support/items.ts";
import { addApp, addCollection, APP, creation, mintOf, randomAddress } from "../support/rows.ts";
import { useTestDatabase } from "../../support/use-database.ts";

const NOW = 1_700_000_000_000;

function creationItem(id: string, appId = APP): Item {
  return { id, appId, type: "collection", command: creation() };
}

function mintItem(id: string, collection: string, to = randomAddress()): Item {
  return { ...creationItem(id), type: "mint", command: mintOf(collection, to), collection };
}

/** A mint to a user who had no wallet when the call was checked. */
function mintToUser(id: string, collection: string, wallet: NewWallet): Item {
  return { ...mintItem(id, collection, wallet.address), newWallet: wallet };
}

function newWallet(user: string): NewWallet {
  return { address: randomAddress(), appId: APP, userIdentifier: user, path: "1/2/3" };
}

function usersOf(database: Database): Promise<(string | null)[]> {
  const query = database.read.selectFrom("wallets").select("user_identifier").orderBy("seq").execute();
  return query.then((rows) => rows.map((row) => row.user_identifier));
}

describe("calls in one group", () => {
  const database = useTestDatabase({ prepare: addApp });

  it("are one when they have the same Idempotency-Key: the second gets the answer of the first", async () => {
    const idempotency = { key: "same", endpoint: "POST /v1/collections", text: "{}", value: {} };
    const calls = callsOf([creationItem("first"), creationItem("second")]).map((call) => {
      const caller = { ...call.caller, idempotency };
      return { ...call, caller, key: keyOf(NO_LIMITS, caller) };
    });
    const answers = await database.write((trx) => acceptGroup(trx, calls, NO_LIMITS, NOW));
    const answer = JSON.stringify({ request_id: "first" });
    expect(answers.map((one) => (isError(one) ? one.errorCode : one.json))).to.deep.equal([answer, answer]);
    const stored = await database.read.selectFrom("requests").select("id").execute();
    expect(stored).to.deep.equal([{ id: "first" }]);
  });

  it("leave neither requests nor the wallets of new users when they are rolled back, and count nothing", async () => {
    const collection = await addCollection(database);
    const group = [mintToUser("one", collection, newWallet("ana")), mintToUser("two", collection, newWallet("ben"))];
    const counters = () => database.read.selectFrom("counters").selectAll().orderBy("key").execute();
    const before = await counters();
    class RolledBack extends Error {}
    const write = database.write(async (trx) => {
      const decisions = await acceptEach(trx, group, NO_LIMITS, NOW);
      expect(decisions).to.deep.equal(["accepted", "accepted"]);
      throw new RolledBack();
    });
    expect(await write.catch((error: unknown) => error)).to.be.instanceOf(RolledBack);
    expect(await usersOf(database)).to.deep.equal([]);
    expect(await counters()).to.deep.equal(before);
    const requests = await database.read.selectFrom("requests").select("id").where("type", "=", "mint").execute();
    expect(requests).to.deep.equal([]);
  });

  it("are accepted although the app of another one was removed after its token was looked up", async () => {
    const group = [creationItem("first"), creationItem("removed", "app-2"), creationItem("last")];
    const decisions = await database.write((trx) => acceptEach(trx, group, NO_LIMITS, NOW));
    expect(decisions.map((one) => one.split(":")[0])).to.deep.equal(["accepted", "unauthorized", "accepted"]);
    const stored = await database.read.selectFrom("requests").select("id").orderBy("seq").execute();
    expect(stored.map(({ id }) => id)).to.deep.equal(["first", "last"]);
  });
});

describeOn("postgres", "two processes that decide at the same time", () => {
  const two = useTwoProcesses(addApp);

  const accept = (limits = NO_LIMITS) =>
    two.other.write((trx) => acceptEach(trx, [creationItem("second")], limits, NOW));
  const app = { id: APP, name: APP, created_at: 1 };

  it("refuse a call whose app is just being removed", async () => {
    const { second } = await overlap(
      two.one,
      async (trx) => {
        await lockApp(trx, APP);
        await deleteApp(trx, APP);
      },
      () => accept(),
    );
    expect(valueOf(second)[0]).to.match(/^unauthorized:/);
  });

  it("do not remove an app whose call is just being accepted", async () => {
    const { second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [creationItem("first")], NO_LIMITS, NOW),
      () => removeApp({ database: two.other }, app),
    );
    expect(() => valueOf(second)).to.throw(OperatorError, /has wallets, requests, collections or uploaded files/);
  });

  it("send a failed request again once", async () => {
    await two.one.write((trx) => acceptEach(trx, [creationItem("failed")], NO_LIMITS, NOW));
    await two.one.write((trx) => trx.updateTable("requests").set({ status: "failed" }).execute());
    const { first, second } = await overlap(
      two.one,
      (trx) => markRetried(trx, "failed", "first"),
      () => two.other.write((trx) => markRetried(trx, "failed", "second")),
    );
    expect([valueOf(first), valueOf(second)]).to.deep.equal([true, false]);
  });

  it("give a name to one wallet: the second is refused, and stores nothing", async () => {
    const wallets = [newWallet("ana"), newWallet("ben")] as const;
    await two.one.write((trx) => insertWallets(trx, wallets, NOW));
    const { second } = await overlap(
      two.one,
      (trx) => setUserIdentifiers(trx, [{ address: wallets[0].address, user_identifier: "carl" }]),
      () => renameWallet({ database: two.other }, APP, wallets[1].address, "carl"),
    );
    expect(() => valueOf(second)).to.throw(ApiError, /Another wallet of this app already has this user identifier/);
    expect(await usersOf(two.one)).to.deep.equal(["carl", "ben"]);
  });

  it("give no token to a wallet that was just renamed: the call is refused, and stores nothing", async () => {
    const collection = await addCollection(two.one);
    const wallet = newWallet("ana");
    const { second } = await overlap(
      two.one,
      async (trx) => {
        await insertWallets(trx, [wallet], NOW);
        await setUserIdentifiers(trx, [{ address: wallet.address, user_identifier: "former" }]);
      },
      () => two.other.write((trx) => acceptEach(trx, [mintToUser("mint", collection, wallet)], NO_LIMITS, NOW)),
    );
    expect(() => valueOf(second)).to.throw(ApiError, /A wallet was renamed/);
    expect(await usersOf(two.one)).to.deep.equal(["former"]);
  });

  it("spend the gas budget of a day once, also with the first calls of the day", async () => {
    const limits = { ...NO_LIMITS, appGasPerDay: estimateGas(creation()) };
    const { first, second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [creationItem("first")], limits, NOW),
      () => accept(limits),
    );
    expect(valueOf(first)).to.deep.equal(["accepted"]);
    expect(valueOf(second)[0]).to.match(/^quota_exceeded: .*gas budget/);
  });

  it("take the last place under a supply cap once", async () => {
    const collection = await addCollection(two.one, { maxSupply: 1 });
    const mint = (id: string) => mintItem(id, collection);
    const { first, second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [mint("first")], NO_LIMITS, NOW),
      () => two.other.write((trx) => acceptEach(trx, [mint("second")], NO_LIMITS, NOW)),
    );
    expect(valueOf(first)).to.deep.equal(["accepted"]);
    expect(valueOf(second)[0]).to.match(/^supply_exceeded:/);
  });

  it("create one wallet for a user whom both name, and the second accepts its mint, too", async () => {
    const [mine, others] = [await addCollection(two.one), await addCollection(two.one)];
    const [ana, ben] = [newWallet("ana"), newWallet("ben")];
    // In the opposite order: they must not lock each other out.
    const { first, second, waited } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [mintToUser("a", mine, ana), mintToUser("b", mine, ben)], NO_LIMITS, NOW),
      () =>
        two.other.write((trx) =>
          acceptEach(trx, [mintToUser("c", others, ben), mintToUser("d", others, ana)], NO_LIMITS, NOW),
        ),
    );
    expect(waited).to.equal(true);
    for (const decided of [first, second]) {
      expect(valueOf(decided)).to.deep.equal(["accepted", "accepted"]);
    }
    expect((await usersOf(two.one)).sort()).to.deep.equal(["ana", "ben"]);
    const counted = await two.one.write((trx) => compareCounters(trx, false));
    expect(counted.filter(({ what }) => what.includes("wallets"))).to.deep.equal([]);
  });

  it("create the wallet of a user for one of two calls, and the other one is refused", async () => {
    const calls = [{ ...callOf(APP, []), wallet: newWallet("ana") }];
    const { first, second, waited } = await overlap(
      two.one,
      (trx) => acceptGroup(trx, calls, NO_LIMITS, NOW),
      () => two.other.write((trx) => acceptGroup(trx, calls, NO_LIMITS, NOW)),
    );
    expect(waited).to.equal(true);
    expect(valueOf(first)[0]).to.have.property("json").that.contains("ana");
    expect(valueOf(second)[0]).to.have.property("errorCode", "user_identifier_taken");
    expect(await usersOf(two.one)).to.deep.equal(["ana"]);
  });

  it("create the wallet with the second mint when the first is rolled back", async () => {
    const [mine, others] = [await addCollection(two.one), await addCollection(two.one)];
    const ana = newWallet("ana");
    const { first, second, waited } = await overlap(
      two.one,
      async (trx, meet) => {
        await acceptEach(trx, [mintToUser("a", mine, ana)], NO_LIMITS, NOW);
        await meet();
        throw new Error("rolled back");
      },
      () => two.other.write((trx) => acceptEach(trx, [mintToUser("b", others, ana)], NO_LIMITS, NOW)),
    );
    expect(waited).to.equal(true);
    expect(() => valueOf(first)).to.throw("rolled back");
    expect(valueOf(second)).to.deep.equal(["accepted"]);
    expect(await usersOf(two.one)).to.deep.equal(["ana"]);
  });

  it("create no wallet too many under a quota", async () => {
    const [mine, others] = [await addCollection(two.one), await addCollection(two.one)];
    await two.one.write((trx) => setQuotas(trx, APP, { wallets: 1 }));
    const ana = newWallet("ana");
    const { second, waited } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [mintToUser("a", mine, ana)], NO_LIMITS, NOW),
      () =>
        two.other.write((trx) =>
          acceptEach(trx, [mintToUser("b", others, newWallet("ben")), mintToUser("c", others, ana)], NO_LIMITS, NOW),
        ),
    );
    expect(waited).to.equal(true);
    const [third, fourth] = valueOf(second);
    expect(third).to.match(/^quota_exceeded: .*`wallets`, which is 1\./);
    expect(fourth).to.equal("accepted");
    expect(await usersOf(two.one)).to.deep.equal(["ana"]);
  });

  it("replace a token once", async () => {
    const { id } = await issueToken(
      { database: two.one },
      { appId: APP, name: "token", scopes: null, expiresAt: null },
    );
    const { second } = await overlap(
      two.one,
      async (trx) => {
        await lockApiToken(trx, id);
        await revokeApiToken(trx, id, NOW);
      },
      () => rotateToken({ database: two.other }, id, 0),
    );
    expect(() => valueOf(second)).to.throw(OperatorError, /is revoked or expired/);
  });
});
