import { expect } from "chai";

import { LONGEST_DELIVERY_WAIT } from "../../../api/store/outbox/deliveries.ts";
import { nextTry } from "../../../api/webhooks/dispatcher.ts";

describe("nextTry", () => {
  const minute = 60_000;
  const waits = [0, 5_000, 5 * minute, 30 * minute, 120 * minute, 300 * minute, 600 * minute, 600 * minute];

  it("waits as documented plus up to a tenth, and ends after eight tries", () => {
    expect(waits.map((_, tries) => nextTry(tries, 1_000, 0))).to.deep.equal(waits.map((wait) => 1_000 + wait));
    expect(waits.map((_, tries) => nextTry(tries, 0, 1))).to.deep.equal(waits.map((wait) => Math.round(wait * 1.1)));
    // The store takes a longer wait for the mistake of a clock, and the delivery for due.
    expect(Math.max(...waits.map((_, tries) => nextTry(tries, 0, 1) ?? 0))).to.equal(LONGEST_DELIVERY_WAIT);
    expect([nextTry(8, 0, 0), nextTry(9, 0, 0)]).to.deep.equal([null, null]);
  });
});
