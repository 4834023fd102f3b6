import { expect } from "chai";

import { acceptGroup, type AcceptLimits, type Candidate } from "../../../api/commands/accept-group.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { issueToken } from "../../../api/commands/api-tokens.ts";
import { removeApp, rotateToken } from "../../../api/operate/apps.ts";
import { estimateGas } from "../../../api/domain/gas-estimate.ts";
import { lockApiToken, revokeApiToken } from "../../../api/store/apps/api-tokens.ts";
import { deleteApp, lockApp } from "../../../api/store/apps/apps.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { describeOn } from "../../support/engine.ts";
import { overlap, valueOf } from "../../support/overlap.ts";
import { useTwoProcesses } from "../../support/two-processes.ts";
import { acceptEach, callsOf } from "../support/candidates.ts";
import { addApp, addCollection, APP, creation, randomAddress } from "../support/rows.ts";

const NOW = 1_700_000_000_000;
const NO_LIMITS: AcceptLimits = { backlog: 1_000, mediaBacklog: 1_000, appGasPerDay: null };

function candidateOf(id: string, appId = APP): Candidate {
  const command = creation();
  const nothing = { unlockable: null, collection: null, tokenId: null, waitsForMedia: false };
  return { id, appId, type: "collection", command, ...nothing };
}

describe("two calls with the same Idempotency-Key in one group", () => {
  let database: TestDatabase;
  before(async () => {
    database = await openTestDatabase();
    await addApp(database);
  });
  after(() => database.remove());

  it("are one: the second gets the answer of the first", async () => {
    const key = { key: "same", fingerprint: "of the body" };
    const calls = callsOf([candidateOf("first"), candidateOf("second")]).map((call) => ({ ...call, key }));
    const decisions = await database.write((trx) => acceptGroup(trx, calls, NO_LIMITS, NOW));
    expect(decisions.map(({ kind }) => kind)).to.deep.equal(["decided", "repeated"]);
    const stored = await database.read.selectFrom("requests").select("id").execute();
    expect(stored).to.deep.equal([{ id: "first" }]);
  });
});

describe("a call of an app that was removed after its token was looked up", () => {
  let database: TestDatabase;
  before(async () => {
    database = await openTestDatabase();
    await addApp(database);
  });
  after(() => database.remove());

  it("is refused, and the other calls of its group are accepted", async () => {
    const group = [candidateOf("first"), candidateOf("removed", "app-2"), candidateOf("last")];
    const decisions = await database.write((trx) => acceptEach(trx, group, NO_LIMITS, NOW));
    expect(decisions.map(({ kind }) => kind)).to.deep.equal(["accepted", "unauthorized", "accepted"]);
    const stored = await database.read.selectFrom("requests").select("id").orderBy("seq").execute();
    expect(stored.map(({ id }) => id)).to.deep.equal(["first", "last"]);
  });
});

describeOn("postgres", "two processes that decide at the same time", () => {
  const two = useTwoProcesses(async (one) => {
    await addApp(one);
  });

  const accept = (limits = NO_LIMITS) =>
    two.other.write((trx) => acceptEach(trx, [candidateOf("second")], limits, NOW));
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
    expect(valueOf(second)).to.deep.equal([{ kind: "unauthorized" }]);
  });

  it("do not remove an app whose call is just being accepted", async () => {
    const { second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [candidateOf("first")], NO_LIMITS, NOW),
      () => removeApp({ database: two.other }, app),
    );
    expect(() => valueOf(second)).to.throw(OperatorError, /has wallets, requests or uploaded files/);
  });

  it("spend the gas budget of a day once, also with the first calls of the day", async () => {
    const limits = { ...NO_LIMITS, appGasPerDay: estimateGas(creation()) };
    const { first, second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [candidateOf("first")], limits, NOW),
      () => accept(limits),
    );
    expect(valueOf(first)).to.deep.equal([{ kind: "accepted" }]);
    expect(valueOf(second)).to.deep.equal([{ kind: "refused", code: "quota_exceeded" }]);
  });

  it("take the last place under a supply cap once", async () => {
    const collection = await addCollection(two.one, { maxSupply: 1 });
    const command = { kind: "mint-erc721", collection, to: randomAddress(), metadata: null } as const;
    const mint = (id: string): Candidate => ({ ...candidateOf(id), type: "mint", command, collection });
    const { first, second } = await overlap(
      two.one,
      (trx) => acceptEach(trx, [mint("first")], NO_LIMITS, NOW),
      () => two.other.write((trx) => acceptEach(trx, [mint("second")], NO_LIMITS, NOW)),
    );
    expect(valueOf(first)).to.deep.equal([{ kind: "accepted" }]);
    expect(valueOf(second)).to.deep.equal([{ kind: "refused", code: "supply_exceeded" }]);
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
