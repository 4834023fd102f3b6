import { expect } from "chai";

import { offeredPrice } from "../../../api/domain/conditions.ts";

describe("offeredPrice", () => {
  it("is twice the base fee, and the priority fee", () => {
    expect(offeredPrice(100n, 1n, 1_000n)).to.equal(201n);
  });

  it("is never more than the operator accepts", () => {
    expect(offeredPrice(1_500n, 1n, 1_000n)).to.equal(1_000n);
  });
});
