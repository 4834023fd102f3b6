import { expect } from "chai";
import fc from "fast-check";

import { FairShares } from "../../../api/shared/fair-shares.ts";

const LIMITS = { shared: 20, ofApp: 10, most: 40 };

/** Lets apps take places in turns until none gets another. @returns the places of each. */
function fill(shares: FairShares, apps: string[]): Map<string, number> {
  const taken = new Map<string, number>();
  for (let progress = true; progress;) {
    progress = false;
    for (const app of apps) {
      if (!shares.take(app)) continue;
      taken.set(app, (taken.get(app) ?? 0) + 1);
      progress = true;
    }
  }
  return taken;
}

describe("FairShares", () => {
  it("gives one app its limit, and leaves places free, however many a few apps want", () => {
    const shares = new FairShares(LIMITS);
    expect(fill(shares, ["a"]).get("a")).to.equal(10);
    expect(shares.full).to.deep.equal(["a"]);
    expect(shares.free).to.equal(30);
    expect(fill(shares, ["b"]).get("b")).to.equal(5);
    expect(fill(shares, ["c"]).get("c")).to.equal(3);
    expect(shares.take("d")).to.equal(true);
    expect(shares.full).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("gives each app one place beyond the shared ones, until there are the most", () => {
    const shares = new FairShares({ shared: 2, ofApp: 2, most: 4 });
    expect([...fill(shares, ["a", "b", "c", "d", "e"]).keys()]).to.deep.equal(["a", "b", "c", "d"]);
    expect(shares.free).to.equal(0);
    expect(shares.full).to.deep.equal(["a", "b", "c", "d"]);
  });

  it("gives a slow app one place", () => {
    const shares = new FairShares(LIMITS, [], new Set(["a"]));
    expect(fill(shares, ["a", "b"]).get("a")).to.equal(1);
    expect(shares.full).to.include("a");
  });

  it("always has a place for an app without one, whatever the others do", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "c", "d", "e", "f"), { maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 10 }),
        (wishes, shared, ofApp) => {
          const shares = new FairShares({ shared, ofApp, most: shared + 6 });
          const used = new Map<string, number>();
          for (const app of wishes) {
            const before = used.get(app) ?? 0;
            const full = shares.full.includes(app);
            const got = shares.take(app);
            expect(got, "take and full agree").to.equal(!full);
            if (got) used.set(app, before + 1);
            if (before === 0) expect(got, "the first place").to.equal(true);
            expect(used.get(app)).to.be.at.most(ofApp);
          }
          expect(shares.take("newcomer")).to.equal(true);
        },
      ),
    );
  });
});
