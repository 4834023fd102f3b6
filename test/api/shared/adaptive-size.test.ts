import { expect } from "chai";
import fc from "fast-check";

import { AdaptiveSize } from "../../../api/shared/adaptive-size.ts";

describe("AdaptiveSize", () => {
  /** Calls of full size against a provider that accepts `most`. @returns how many it refused. */
  const run = (limit: AdaptiveSize, most: number, calls: number) => {
    let refusals = 0;
    for (let call = 0; call < calls; call++) {
      const size = limit.value;
      if (size <= most) limit.accepted(size);
      else {
        refusals += 1;
        expect(limit.refused(size)).to.equal(true);
      }
    }
    return refusals;
  };

  it("halves until the provider accepts", () => {
    const limit = new AdaptiveSize(500);
    expect(run(limit, 10, 7)).to.equal(6);
    expect(limit.value).to.equal(7);
  });

  it("grows back slowly, and is refused ever more rarely", () => {
    const limit = new AdaptiveSize(500);
    run(limit, 10, 100);
    expect(limit.value).to.be.within(7, 16);
    expect(run(limit, 10, 10_000)).to.be.below(12);
  });

  it("returns to its start when the provider's limit is gone", () => {
    const limit = new AdaptiveSize(500);
    run(limit, 10, 50);
    expect(run(limit, Infinity, 2_000)).to.equal(0);
    expect(limit.value).to.equal(500);
  });

  it("does not grow by calls that were smaller than it allows", () => {
    const limit = new AdaptiveSize(8);
    limit.refused(8);
    for (let call = 0; call < 1_000; call++) limit.accepted(3);
    expect(limit.value).to.equal(4);
  });

  it("says when no smaller size is left", () => {
    const limit = new AdaptiveSize(2);
    expect([limit.refused(2), limit.refused(1), limit.value]).to.deep.equal([true, false, 1]);
  });

  it("stays between 1 and its start, for any answers", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000 }),
        fc.array(fc.tuple(fc.boolean(), fc.nat(1_200))),
        (start, calls) => {
          const limit = new AdaptiveSize(start);
          for (const [accepts, size] of calls) {
            if (accepts) limit.accepted(size);
            else limit.refused(size);
            expect(limit.value).to.be.within(1, start);
          }
        },
      ),
    );
  });
});
