import { expect } from "chai";
import { sql } from "kysely";
import { pino } from "pino";

import { parseSettings } from "../../../../api/config/settings.ts";
import { prune as pruneAll } from "../../../../api/operate/prune.ts";
import { pruneSome, RowNotPruned } from "../../../../api/store/retention/prune.ts";
import { counterKeys, readCounter } from "../../../../api/store/db/counters.ts";
import type { PrunedKind } from "../../../../api/domain/retention.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { parkedIds } from "../../../support/poison.ts";
import { addTestEvents, APP } from "../../support/rows.ts";
import { addTestDelivery, DAY, fillBasics, NOW } from "./support.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("pruning the outbox", () => {
  const database = useTestDatabase({ prepare: fillBasics });

  const prune = (kind: PrunedKind, days: number, now = NOW) =>
    database.write((trx) => pruneSome(trx, kind, { now, days }));
  const ids = async () =>
    (await database.read.selectFrom("deliveries").select("id").orderBy("seq").execute()).map(({ id }) => id);
  const events = async () => (await database.read.selectFrom("events").select("seq").execute()).length;
  const counted = () => readCounter(database.read, counterKeys.deliveries(APP));

  for (const [kind, status, days] of [
    ["deliveries", "delivered", 30],
    ["failed_deliveries", "failed", 365],
  ] as const) {
    describe(`given ${status} deliveries`, () => {
      it("deletes those that have ended long enough ago, counts them, and keeps all others with all events", async () => {
        await addTestDelivery(database, { age: days + 1, status });
        const kept = [
          await addTestDelivery(database, { age: 400, status: "pending" }),
          await addTestDelivery(database, { age: 400, status: status === "failed" ? "delivered" : "failed" }),
          await addTestDelivery(database, { age: days - 1, status }),
        ];
        const step = await prune(kind, days);
        expect(step).to.include({ rows: 1, more: false });
        expect(step.bytes).to.be.within(100, 1_000);
        expect(await ids()).to.deep.equal(kept);
        expect([await counted(), await events()]).to.deep.equal([3, 4]);
        // The youngest one becomes as old.
        expect(await prune(kind, days, NOW + DAY)).to.include({ rows: 0 });
        expect(await prune(kind, days, NOW + 1 + DAY)).to.include({ rows: 1 });
        expect(await counted()).to.equal(2);
      });
    });
  }

  describe("given more deliveries than one step removes", () => {
    it("removes the oldest ones first, a bounded number in each step", async () => {
      await database.write(async (trx) => {
        await addTestEvents(trx, APP, 1_224, NOW);
        // In another order than that of their numbers.
        const updated_at = sql<number>`${NOW - 2_000 * DAY} + (seq * 7919 % 1224) * ${DAY}`;
        await trx.updateTable("deliveries").set({ status: "delivered", next_at: null, updated_at }).execute();
      });
      const oldest = await database.read
        .selectFrom("deliveries")
        .select("id")
        .orderBy("updated_at")
        .limit(500)
        .execute();
      expect(await prune("deliveries", 30)).to.include({ rows: 500, more: true });
      const left = new Set(await ids());
      expect(oldest.filter(({ id }) => left.has(id))).to.deep.equal([]);
      expect(await prune("deliveries", 30)).to.include({ rows: 500, more: true });
      expect(await prune("deliveries", 30)).to.include({ rows: 224, more: false });
      expect(await ids()).to.deep.equal([]);
    });
  });

  describe("given test events", () => {
    it("deletes the old ones with their deliveries, but none that still waits", async () => {
      await addTestDelivery(database, { age: 8, status: "delivered" });
      await addTestDelivery(database, { age: 8, status: "failed" });
      const waiting = await addTestDelivery(database, { age: 8, status: "pending" });
      const young = await addTestDelivery(database, { age: 6, status: "delivered" });
      expect(await prune("test_events", 7)).to.include({ rows: 2, more: false });
      expect(await ids()).to.deep.equal([waiting, young]);
      expect(await events()).to.equal(2);
      expect(await counted()).to.equal(2);
    });

    it("never deletes an event of a request", async () => {
      await addTestDelivery(database, { age: 100, status: "delivered" });
      await database.write((trx) => trx.updateTable("events").set({ type: "completed" }).execute());
      expect(await prune("test_events", 7)).to.include({ rows: 0 });
      expect(await events()).to.equal(1);
    });
  });

  describe("given a delivery that cannot be deleted, beside a thousand others", () => {
    it("stops at it and names it, deletes the other kinds, and deletes the rest once the cause is gone", async () => {
      await database.write(async (trx) => {
        await addTestEvents(trx, APP, 1_001, NOW - 29 * DAY);
        // The one that is refused is in the middle.
        const updated_at = sql<number>`${NOW - 40 * DAY} + abs(seq - 500)`;
        await trx.updateTable("deliveries").set({ status: "delivered", next_at: null, updated_at }).execute();
      });
      await addTestDelivery(database, { age: 366, status: "failed" });
      const { id, seq } = await database.read
        .selectFrom("deliveries")
        .select(["id", "seq"])
        .orderBy("updated_at", "desc")
        .where("status", "=", "delivered")
        .executeTakeFirstOrThrow();
      const cure = await poison(database, { table: "deliveries", event: "delete", when: `old.id = '${id}'` });
      const deps = { database, retain: parseSettings({}).retain, logger: pino({ level: "silent" }), now: () => NOW };
      const run = () => pruneAll(deps, new AbortController().signal, () => undefined);
      const named = `the row ${seq.toString()} of deliveries cannot be removed (`;
      const error = await rejectionOf(run());
      expect(error).to.be.instanceOf(RowNotPruned);
      expect(error.message).to.contain(named);
      expect(await ids()).to.deep.equal([id]);
      expect(await parkedIds(database, "old_row")).to.deep.equal([`deliveries ${seq.toString()}`]);
      await cure();
      await run();
      expect(await ids()).to.deep.equal([]);
      expect(await parkedIds(database, "old_row")).to.deep.equal([]);
    });
  });
});
