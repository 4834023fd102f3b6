import { expect } from "chai";
import fc from "fast-check";

import { batchSize } from "../../../api/relayer/build-batch.ts";
import { createNumbers } from "../../../api/store/sending/claims.ts";

describe("createNumbers", () => {
  it("counts without gaps in one process, and never repeats a number of another process", () => {
    const [one, two] = [createNumbers(), createNumbers()];
    const first = Array.from({ length: 600 }, one);
    expect(first.map((number) => number - (first[0] ?? 0n))).to.deep.equal(
      Array.from({ length: 600 }, (_, index) => BigInt(index)),
    );
    expect(new Set(first.map((number) => number >> 8n)).size).to.be.at.most(3);
    const second = Array.from({ length: 600 }, two);
    expect(new Set([...first, ...second]).size).to.equal(1_200);
    for (const number of [...first, ...second]) expect(number < 2n ** 96n).to.equal(true);
  });
});

describe("batchSize", () => {
  it("halves for each reverted batch, without limiting the requests in front", () => {
    expect(batchSize(Array<number>(300).fill(0), 250)).to.equal(250);
    expect(batchSize([1, ...Array<number>(300).fill(0)], 250)).to.equal(125);
    expect(batchSize([...Array<number>(40).fill(0), 9, 0, 0], 250)).to.equal(40);
    expect(batchSize([9, 0, 0], 250)).to.equal(1);
    expect(batchSize([1_000], 250)).to.equal(1);
    expect(batchSize([], 250)).to.equal(0);
  });

  it("is at least one, and never exceeds the limit of a request that reverted", () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 300 }), (returns) => {
        const size = batchSize(returns, 250);
        const worst = Math.max(...returns.slice(0, size));
        expect(size)
          .to.be.at.least(1)
          .and.at.most(Math.max(1, Math.floor(250 / 2 ** worst)));
      }),
    );
  });
});
