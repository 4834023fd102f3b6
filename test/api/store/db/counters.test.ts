import { expect } from "chai";
import fc from "fast-check";

import { addToCounter, advanceSequences, CounterDeltas, readCounter } from "../../../../api/store/db/counters.ts";
import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("counters", () => {
  const database = useTestDatabase();

  describe("addToCounters", () => {
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
