import { expect } from "chai";

import { insertAnswers } from "../../../../api/store/apps/idempotency.ts";
import { pruneSome } from "../../../../api/store/retention/kinds.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { addApp, addRequest, APP, creation } from "../../support/rows.ts";
import { DAY, fillBasics, NOW } from "./support.ts";

describe("pruning idempotency keys", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openTestDatabase();
    await fillBasics(database);
  });
  afterEach(() => database.remove());

  const add = (key: string, age: number, appId = APP) =>
    database.write((trx) => insertAnswers(trx, [{ appId, key, fingerprint: "f", response: "{}" }], NOW - age * DAY));
  const prune = (now = NOW) => database.write((trx) => pruneSome(trx, "idempotency_keys", { now, days: 30 }));
  const keys = async () =>
    (await database.read.selectFrom("idempotency_keys").select("key").orderBy("key").execute()).map(({ key }) => key);

  it("deletes those that are old, of every app", async () => {
    await addApp(database, "other");
    await add("a", 31);
    await add("a", 31, "other");
    await add("b", 29);
    expect(await prune()).to.include({ rows: 2, more: false });
    expect(await keys()).to.deep.equal(["b"]);
  });

  describe("given an older request that is not final", () => {
    for (const status of ["pending", "processing"] as const) {
      it(`keeps the keys from its time on (${status})`, async () => {
        await add("a", 50);
        await add("b", 40);
        const request = await addRequest(database, creation(), { now: NOW - 40 * DAY });
        const change = (to: "pending" | "processing" | "completed") =>
          database.write((trx) =>
            trx.updateTable("requests").set({ status: to }).where("id", "=", request.id).execute(),
          );
        await change(status);
        await prune();
        expect(await keys()).to.deep.equal(["b"]);
        await change("completed");
        await prune();
        expect(await keys()).to.deep.equal([]);
      });
    }
  });

  describe("given a clock that jumps far ahead", () => {
    it("counts from the time of the newest block", async () => {
      await add("a", 29);
      expect(await prune(NOW + 365 * DAY)).to.include({ rows: 0 });
      expect(await keys()).to.deep.equal(["a"]);
    });
  });

  describe("given no block", () => {
    it("deletes nothing", async () => {
      await add("a", 100);
      await database.write((trx) => trx.deleteFrom("blocks").execute());
      expect(await prune()).to.include({ rows: 0 });
    });
  });
});
