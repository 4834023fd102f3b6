import { expect } from "chai";

import { Random } from "../../../scripts/scene/random.ts";

function numbers(seed: number): number[] {
  const random = new Random(seed);
  return Array.from({ length: 50 }, () => random.next());
}

describe("campaign: Random", () => {
  it("gives the same numbers for the same seed", () => {
    expect(numbers(7)).to.deep.equal(numbers(7));
  });

  it("gives other numbers for the next seed", () => {
    const first = new Set(numbers(7));
    expect(numbers(8).filter((value) => first.has(value))).to.deep.equal([]);
  });

  it("gives numbers from 0 to below 1", () => {
    for (const value of numbers(1)) expect(value).to.be.within(0, 1).and.not.equal(1);
  });

  it("gives every integer of a range, both ends included", () => {
    const random = new Random(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.integer(3, 6)));
    expect([...drawn].sort()).to.deep.equal([3, 4, 5, 6]);
  });

  it("shuffles into another order with the same items", () => {
    const items = Array.from({ length: 30 }, (_, index) => index);
    const shuffled = new Random(1).shuffle(items);
    expect(shuffled).to.have.members(items).and.not.deep.equal(items);
    expect(new Random(1).shuffle(items)).to.deep.equal(shuffled);
  });

  it("refuses to pick from an empty list", () => {
    expect(() => new Random(1).pick([])).to.throw("cannot pick from an empty list");
  });
});
