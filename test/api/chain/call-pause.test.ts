import { expect } from "chai";

import { CallPause } from "../../../api/chain/rpc.ts";

describe("CallPause", () => {
  it("adds a random part of a second to the time that a provider names, so that callers do not come back in step", () => {
    const waits = Array.from({ length: 20 }, () => new CallPause().rateLimited(2_000).retryAfter);
    for (const wait of waits) expect(wait).to.be.within(2_000, 3_000);
    expect(new Set(waits).size).to.be.above(1);
  });
});
