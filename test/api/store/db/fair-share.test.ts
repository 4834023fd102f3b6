import { expect } from "chai";
import fc from "fast-check";

import { takeFairly } from "../../../../api/store/db/fair-share.ts";

interface Row {
  id: string;
  app_id: string;
}

/** A queue, given as the apps of its rows, that counts its reads. */
function queueOf(apps: string[]) {
  const rows = apps.map((app, index): Row => ({ id: index.toString(), app_id: app }));
  const queue = {
    reads: 0,
    read: ({ limit, without }: { limit: number; without: string[] }) => {
      queue.reads += 1;
      return Promise.resolve(rows.filter((row) => !without.includes(row.app_id)).slice(0, limit));
    },
  };
  return queue;
}

describe("takeFairly", () => {
  const ids = async (apps: string, slots: { limit: number; limitOfApp: number; underWay?: string[] }) => {
    const taken = await takeFairly({ underWay: [], ...slots }, queueOf(Array.from(apps)).read);
    return taken.map((row) => row.id).join(" ");
  };

  it("takes the first rows while every app is within its share", async () => {
    expect(await ids("aabb", { limit: 3, limitOfApp: 2 })).to.equal("0 1 2");
  });

  it("skips rows above an app's share, and takes the rows behind them", async () => {
    expect(await ids("aaaaaaaab", { limit: 3, limitOfApp: 2 })).to.equal("0 1 8");
  });

  it("counts running work", async () => {
    expect(await ids("aab", { limit: 3, limitOfApp: 2, underWay: ["a", "c", "c"] })).to.equal("0 2");
    expect(await ids("aab", { limit: 3, limitOfApp: 2, underWay: ["a", "a"] })).to.equal("2");
  });

  it("reads nothing when no slot is free", async () => {
    const queue = queueOf(["a"]);
    expect(await takeFairly({ limit: 0, limitOfApp: 2, underWay: [] }, queue.read)).to.deep.equal([]);
    expect(queue.reads).to.equal(0);
  });

  it("fills the slots like a scan of the whole queue, with a number of reads that does not depend on the queue", async () => {
    const app = fc.constantFrom("a", "b", "c", "d", "e");
    await fc.assert(
      fc.asyncProperty(
        fc.array(app, { maxLength: 60 }),
        fc.array(app, { maxLength: 6 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 4 }),
        async (apps, underWay, limit, limitOfApp) => {
          const queue = queueOf(apps);
          const taken = await takeFairly({ limit, limitOfApp, underWay }, queue.read);
          const used = new Map<string, number>();
          for (const one of underWay) used.set(one, (used.get(one) ?? 0) + 1);
          const expected = apps.flatMap((one, index) => {
            const count = used.get(one) ?? 0;
            if (count >= limitOfApp) return [];
            used.set(one, count + 1);
            return [index.toString()];
          });
          expect(taken.map((row) => row.id)).to.deep.equal(expected.slice(0, limit));
          // Each further read leaves out one more app, which has reached its share.
          expect(queue.reads).to.be.at.most(Math.floor(limit / limitOfApp) + underWay.length + 1);
        },
      ),
    );
  });
});
