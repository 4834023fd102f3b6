import { expect } from "chai";
import fc from "fast-check";

import { share, shareCost } from "../../../api/domain/cost-shares.ts";

describe("share", () => {
  it("splits in proportion, and gives what rounding leaves to later parts", () => {
    expect(share(100n, [1, 1, 1])).to.deep.equal([33n, 33n, 34n]);
    expect(share(10n, [3, 1])).to.deep.equal([7n, 3n]);
    expect(share(5n, [])).to.deep.equal([]);
  });

  it("never loses or adds a wei, and no part is more than one wei away from its exact share", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 30_000_000 }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 24n }), weights, (amount, of) => {
        const parts = share(amount, of);
        expect(parts.reduce((sum, part) => sum + part, 0n)).to.equal(amount);
        const total = of.reduce((sum, weight) => sum + BigInt(weight), 0n);
        for (const [index, part] of parts.entries()) {
          const exact = amount * BigInt(of[index] ?? 0);
          const away = part * total - exact;
          expect(away > -total && away < total).to.equal(true);
        }
      }),
    );
  });
});

describe("shareCost", () => {
  it("splits gas and fee, each exactly", () => {
    expect(shareCost({ gas: 100_001, feeWei: 3n }, [1, 1])).to.deep.equal([
      { gas: 50_000, feeWei: 1n },
      { gas: 50_001, feeWei: 2n },
    ]);
  });
});
