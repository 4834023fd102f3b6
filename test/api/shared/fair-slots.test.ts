import { expect } from "chai";
import fc from "fast-check";

import { FairSlots } from "../../../api/shared/fair-slots.ts";

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
