import { expect } from "chai";
import { pino } from "pino";

import { DEFAULT_RETENTION } from "../../../../api/config/variables.ts";
import { prune as pruneAll } from "../../../../api/operate/prune.ts";
import { pruneSome } from "../../../../api/store/retention/kinds.ts";
import { counterKeys, readCounter } from "../../../../api/store/db/counters.ts";
import type { PrunedKind } from "../../../../api/domain/retention.ts";
import { enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import { poison } from "../../../../scripts/scene/poison.ts";
import { parkedIds } from "../../../support/poison.ts";
import { APP } from "../../support/rows.ts";
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

  describe("given deliveries of every status and age", () => {
    it("deletes those that were accepted long enough ago, counts them, and keeps all others", async () => {
      const old = { age: 31 } as const;
      await addTestDelivery(database, { ...old, status: "delivered" });
      const kept = [
        await addTestDelivery(database, { ...old, status: "pending" }),
        await addTestDelivery(database, { ...old, status: "failed" }),
        await addTestDelivery(database, { age: 29, status: "delivered" }),
      ];
      const step = await prune("deliveries", 30);
      expect(step).to.include({ rows: 1, more: false });
      expect(step.bytes).to.be.within(100, 1_000);
      expect(await ids()).to.deep.equal(kept);
      expect(await counted()).to.equal(3);
      expect(await events(), "events stay").to.equal(4);
      // The youngest one becomes as old.
      expect(await prune("deliveries", 30, NOW + DAY)).to.include({ rows: 0 });
      expect(await prune("deliveries", 30, NOW + 1 + DAY)).to.include({ rows: 1 });
      expect(await counted()).to.equal(2);
    });
  });

  describe("given deliveries that failed", () => {
    it("deletes those that failed long enough ago, counts them, and keeps all others with all events", async () => {
      await addTestDelivery(database, { age: 366, status: "failed" });
      const kept = [
        await addTestDelivery(database, { age: 400, status: "pending" }),
        await addTestDelivery(database, { age: 400, status: "delivered" }),
        await addTestDelivery(database, { age: 364, status: "failed" }),
      ];
      expect(await prune("failed_deliveries", 365)).to.include({ rows: 1, more: false });
      expect(await ids()).to.deep.equal(kept);
      expect([await counted(), await events()]).to.deep.equal([3, 4]);
      expect(await prune("failed_deliveries", 365, NOW + 2 * DAY)).to.include({ rows: 1 });
      expect(await counted()).to.equal(2);
    });
  });

  describe("given more deliveries than one step removes", () => {
    it("removes the oldest ones first, a bounded number in each step", async () => {
      for (let age = 1_204; age > 1_000; age--) await addTestDelivery(database, { age, status: "delivered" });
      const copies = database.write(async (trx) => {
        const rows = await trx.selectFrom("deliveries").selectAll().execute();
        for (const round of [1, 2, 3, 4, 5]) {
          const more = rows.map(({ seq: _seq, id, ...row }) => ({ ...row, id: `${id}-${round.toString()}` }));
          await trx
            .insertInto("deliveries")
            .values(more.map((row) => ({ ...row, updated_at: row.updated_at + round * 100 * DAY })))
            .execute();
        }
      });
      await copies;
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

  describe("given a row of each kind that cannot be deleted, beside a thousand deliveries", () => {
    it("deletes the others, parks these, and deletes them once the cause is gone", async () => {
      const [refused, ...good] = await database.write(async (trx) => {
        const added: string[] = [];
        for (let count = 0; count <= 1_000; count++) {
          const { id } = await enqueueTestEvent(trx, APP, NOW - 31 * DAY);
          added.push(id);
        }
        await trx
          .updateTable("deliveries")
          .set({ status: "delivered", next_at: null, updated_at: NOW - 31 * DAY })
          .execute();
        return added;
      });
      const event = await database.read
        .selectFrom("deliveries")
        .select(["seq", "event_seq"])
        .where("id", "=", refused ?? "")
        .executeTakeFirstOrThrow();
      const cure = await poison(database, {
        table: "deliveries",
        event: "delete",
        when: `old.id = '${refused ?? ""}'`,
      });
      const clock = { now: NOW };
      const everything = { deliveries: 30, test_events: 30, raw_transactions: 30, batch_items: 30 };
      const deps = {
        database,
        retain: { ...DEFAULT_RETENTION, ...everything },
        logger: pino({ level: "silent" }),
        now: () => clock.now,
      };
      const run = () => pruneAll(deps, new AbortController().signal, () => undefined);
      await run();
      expect(good).to.have.length(1_000);
      expect(await ids()).to.deep.equal([refused]);
      expect(await events()).to.equal(1);
      const parked = [`deliveries ${event.seq.toString()}`, `test_events ${event.event_seq.toString()}`];
      expect(await parkedIds(database, "old_row")).to.deep.equal(parked);
      await cure();
      await run();
      expect(await ids(), "it is not tried again yet").to.deep.equal([refused]);
      clock.now += 60_000;
      await run();
      expect(await ids()).to.deep.equal([]);
      expect(await events()).to.equal(0);
      expect(await parkedIds(database, "old_row")).to.deep.equal([]);
    });
  });
});
