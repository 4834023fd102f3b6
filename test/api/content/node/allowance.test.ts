import { expect } from "chai";

import { Allowance } from "../../../../api/content/node/serve-blocks.ts";

describe("Allowance", () => {
  it("allows the burst at once, then a rate, and saves up no more than the burst", () => {
    let now = 0;
    const allowance = new Allowance(1_000, 100, () => now);
    allowance.spend(999);
    expect(allowance.open).to.equal(true);
    // The last block may overdraw it. The next one waits for the debt.
    allowance.spend(201);
    expect(allowance.open).to.equal(false);
    now = 2_000;
    expect(allowance.open).to.equal(false);
    now = 2_010;
    expect(allowance.open).to.equal(true);
    now = 1_000_000;
    expect(allowance.open).to.equal(true);
    allowance.spend(1_000);
    expect(allowance.open).to.equal(false);
  });
});
