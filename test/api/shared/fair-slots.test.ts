import { expect } from "chai";
import fc from "fast-check";

import { FairQueue, FairSlots } from "../../../api/shared/fair-slots.ts";

const LIMITS = { shared: 20, ofApp: 10, most: 40 };

/** Lets apps take slots in turns until none gets another. @returns the slots of each. */
function fill(slots: FairSlots, apps: string[]): Map<string, number> {
  const taken = new Map<string, number>();
  for (let progress = true; progress;) {
    progress = false;
    for (const app of apps) {
      if (!slots.take(app)) continue;
      taken.set(app, (taken.get(app) ?? 0) + 1);
      progress = true;
    }
  }
  return taken;
}

describe("FairSlots", () => {
  it("gives one app its limit, and leaves slots free, however many a few apps want", () => {
    const slots = new FairSlots(LIMITS);
    expect(fill(slots, ["a"]).get("a")).to.equal(10);
    expect(slots.full).to.deep.equal(["a"]);
    expect(slots.free).to.equal(30);
    expect(fill(slots, ["b"]).get("b")).to.equal(5);
    expect(fill(slots, ["c"]).get("c")).to.equal(3);
    expect(slots.take("d")).to.equal(true);
    expect(slots.full).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("gives each app one slot beyond the shared ones, until there are the most", () => {
    const slots = new FairSlots({ shared: 2, ofApp: 2, most: 4 });
    expect([...fill(slots, ["a", "b", "c", "d", "e"]).keys()]).to.deep.equal(["a", "b", "c", "d"]);
    expect(slots.free).to.equal(0);
    expect(slots.full).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("counts running work", () => {
    const slots = new FairSlots(LIMITS, Array<string>(10).fill("a"));
    expect(slots.full).to.deep.equal(["a"]);
    expect(slots.take("a")).to.equal(false);
    expect(slots.take("b")).to.equal(true);
  });

  it("gives a slow app one slot", () => {
    const slots = new FairSlots(LIMITS, [], new Set(["a"]));
    expect(fill(slots, ["a", "b"]).get("a")).to.equal(1);
    expect(slots.full).to.include("a");
  });

  it("always has a slot for an app without one, whatever the others do", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f"), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 10 }),
        (wishes, shared, ofApp) => {
          const slots = new FairSlots({ shared, ofApp, most: shared + 6 });
          const used = new Map<string, number>();
          for (const app of wishes) {
            const before = used.get(app) ?? 0;
            const full = slots.full.includes(app);
            const got = slots.take(app);
            expect(got, "take and full agree").to.equal(!full);
            if (got) used.set(app, before + 1);
            if (before === 0) expect(got, "the first slot").to.equal(true);
            expect(used.get(app)).to.be.at.most(ofApp);
          }
          expect(slots.take("newcomer")).to.equal(true);
        },
      ),
    );
  });
});

describe("FairQueue", () => {
  it("takes one item of each app in turn, those of an app in their order, also after some were removed", () => {
    const step = fc.oneof(
      fc.record({ add: fc.constantFrom("a", "b", "c") }),
      fc.record({ take: fc.integer({ min: 1, max: 6 }) }),
      fc.record({ remove: fc.nat() }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const queue = new FairQueue<number>();
        /** The apps in the order of their turns, with what waits. */
        let apps: { app: string; items: number[] }[] = [];
        for (const [index, one] of steps.entries()) {
          if ("add" in one) {
            queue.add(one.add, index);
            const known = apps.find(({ app }) => app === one.add);
            if (known === undefined) apps.push({ app: one.add, items: [index] });
            else known.items.push(index);
          } else if ("remove" in one) {
            const all = apps.flatMap(({ app, items }) => items.map((item) => ({ app, item })));
            const gone = all[one.remove % Math.max(1, all.length)];
            if (gone !== undefined) queue.remove(gone.app, gone.item);
            apps = apps
              .map(({ app, items }) => ({ app, items: items.filter((item) => item !== gone?.item) }))
              .filter(({ items }) => items.length > 0);
          } else {
            const expected: number[] = [];
            while (expected.length < one.take) {
              const next = apps.shift();
              if (next === undefined) break;
              expected.push(...next.items.splice(0, 1));
              if (next.items.length > 0) apps.push(next);
            }
            expect(queue.take(one.take)).to.deep.equal(expected);
          }
          expect(queue.isEmpty).to.equal(apps.length === 0);
        }
      }),
    );
  });

  it("takes the first item of the first app that may start", () => {
    const queue = new FairQueue<string>();
    for (const item of ["a1", "b1", "a2", "a3", "b2", "c1"]) queue.add(item[0]!, item);
    const slots = new FairSlots({ shared: 8, ofApp: 2, most: 8 }, ["c", "c"]);
    const take = () => queue.takeOne((app) => slots.take(app));
    expect([take(), take(), take(), take(), take()]).to.deep.equal(["a1", "b1", "a2", "b2", null]);
    expect([queue.takeOne(() => true), queue.takeOne(() => true)]).to.have.members(["c1", "a3"]);
    expect(queue.isEmpty).to.be.true;
  });
});
