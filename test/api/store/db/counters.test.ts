import { expect } from "chai";
import fc from "fast-check";

import {
  addToCounter,
  addToCounters,
  advanceSequences,
  CounterDeltas,
  readCounter,
  readCounters,
} from "../../../../api/store/db/counters.ts";
import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("counters", () => {
  const database = useTestDatabase();

  const addToSlots = (key: string, values: number[]) =>
    database.write(async (trx) => {
      for (const [slot, value] of values.entries())
        await trx.insertInto("counters").values({ key, slot, value }).execute();
    });

  describe("readCounter", () => {
    it("reads 0 for a counter that was never written", async () => {
      expect(await readCounter(database.read, "none")).to.equal(0);
    });

    it("sums the slots, of which one may be negative", async () => {
      await addToSlots("a", [5, -2, 40]);
      await addToSlots("ab", [1000]);
      expect(await readCounter(database.read, "a")).to.equal(43);
    });
  });

  describe("readCounters", () => {
    it("sums each counter by itself, and leaves out those that were never written", async () => {
      await addToSlots("a", [1, 2]);
      await addToSlots("b", [10, 20]);
      await addToSlots("c", [100]);
      const read = await readCounters(database.read, ["a", "b", "none"]);
      expect([...read].sort()).to.deep.equal([
        ["a", 3],
        ["b", 30],
      ]);
    });
  });

  describe("addToCounters", () => {
    it("adds to one slot and leaves the others as they are", async () => {
      await addToSlots("a", [1, 7]);
      const slots = async () =>
        new Map(
          (await database.read.selectFrom("counters").select(["slot", "value"]).where("key", "=", "a").execute()).map(
            ({ slot, value }) => [slot, value],
          ),
        );
      const before = await slots();
      await database.write((trx) =>
        addToCounters(
          trx,
          new Map([
            ["a", -3],
            ["b", 2],
          ]),
        ),
      );
      expect(await readCounter(database.read, "a")).to.equal(5);
      expect(await readCounter(database.read, "b")).to.equal(2);
      // Which slot it is depends on the engine and on the connection.
      const changes = [...(await slots())].map(([slot, value]) => value - (before.get(slot) ?? 0));
      expect(changes.filter((change) => change !== 0)).to.deep.equal([-3]);
    });

    it("writes nothing for a change of 0", async () => {
      await database.write((trx) => addToCounter(trx, "a", 0));
      expect(await database.read.selectFrom("counters").selectAll().execute()).to.deep.equal([]);
    });

    it("equals the sum of all changes, whatever they are and however they are grouped", async () => {
      const change = fc.tuple(fc.constantFrom("a", "b", "c"), fc.integer({ min: -5, max: 5 }));
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 6 }), async (groups) => {
          await database.write((trx) => trx.deleteFrom("counters").execute());
          const expected = new Map<string, number>();
          for (const group of groups) {
            const counters = new CounterDeltas();
            for (const [key, delta] of group) {
              counters.add(key, delta);
              expected.set(key, (expected.get(key) ?? 0) + delta);
            }
            await database.write((trx) => counters.flush(trx));
          }
          for (const key of ["a", "b", "c"])
            expect(await readCounter(database.read, key)).to.equal(expected.get(key) ?? 0);
        }),
        { numRuns: 50 },
      );
    });
  });

  describe("given several connections that write at the same time", () => {
    let others: Database[];
    beforeEach(async () => {
      others = [await openDatabase(database.url), await openDatabase(database.url)];
    });
    afterEach(() => Promise.all(others.map((other) => other.close())));

    it("loses no change of a counter", async () => {
      const writes = Array.from({ length: 90 }, (_, index) =>
        [database, ...others][index % 3]!.write((trx) => addToCounter(trx, "a", index % 2 === 0 ? 3 : -1)),
      );
      await Promise.all(writes);
      expect(await readCounter(database.read, "a")).to.equal(45 * 3 - 45);
    });

    it("gives each number of a sequence once", async () => {
      const given = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const count = 1 + (index % 3);
          const last = await [database, ...others][index % 3]!.write((trx) =>
            advanceSequences(trx, new Map([["feed", count]])),
          );
          return Array.from({ length: count }, (_unused, back) => (last.get("feed") ?? 0) - back);
        }),
      );
      const numbers = given.flat().sort((a, b) => a - b);
      expect(numbers).to.deep.equal(Array.from({ length: 120 }, (_, index) => index + 1));
    });
  });
});
