import { expect } from "chai";

import { FaultBackoff } from "../../../api/domain/backoff.ts";

describe("FaultBackoff", () => {
  let time: number;
  let backoff: FaultBackoff;
  beforeEach(() => {
    time = 0;
    backoff = new FaultBackoff({ first: 1_000, longest: 5_000 }, () => time);
  });

  /** Milliseconds until it may be tried again. */
  const wait = () => {
    const from = time;
    while (backoff.waiting) time += 100;
    return time - from;
  };

  it("doubles the wait up to the longest, and starts anew after a success", () => {
    const waits = Array.from({ length: 5 }, () => {
      backoff.failed();
      return wait();
    });
    expect(waits).to.deep.equal([1_000, 2_000, 4_000, 5_000, 5_000]);
    expect(backoff.active).to.equal(true);
    backoff.clear();
    expect([backoff.active, backoff.waiting]).to.deep.equal([false, false]);
    backoff.failed();
    expect(wait()).to.equal(1_000);
  });

  it("counts failures during the wait as one", () => {
    for (let count = 0; count < 20; count++) backoff.failed();
    expect(wait()).to.equal(1_000);
  });
});
