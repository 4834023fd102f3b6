import { expect } from "chai";

import { Doubts } from "../../../api/relayer/doubts.ts";

const REQUEST = { id: "r1", app_id: "a" };
const SAID = "receiver_rejected";

describe("Doubts", () => {
  let now = 0;
  let doubts: Doubts;
  beforeEach(() => {
    now = 0;
    doubts = new Doubts(false, () => now);
  });

  it("believes what one node has said at a block and at three later ones", () => {
    for (const block of [10, 11, 12]) expect(doubts.wait(REQUEST, SAID, block)).to.not.equal(null);
    expect(doubts.wait(REQUEST, SAID, 13)).to.equal(null);
  });

  it("counts a block once, and waits longer each time, at most half a minute", () => {
    const waits = Array.from({ length: 7 }, () => doubts.wait(REQUEST, SAID, 10));
    expect(waits).to.deep.equal([2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    now = 3_600_000;
    expect(doubts.wait(REQUEST, SAID, 10)).to.not.equal(null);
  });

  it("counts anew when the node says something else, or no longer says it", () => {
    for (const block of [10, 11, 12]) doubts.wait(REQUEST, SAID, block);
    expect(doubts.wait(REQUEST, "out_of_gas", 13)).to.equal(2_000);
    for (const block of [14, 15]) doubts.wait(REQUEST, "out_of_gas", block);
    doubts.forget(REQUEST);
    expect(doubts.wait(REQUEST, "out_of_gas", 16)).to.equal(2_000);
  });

  it("believes it after a second on a chain for development, which may have no further block", () => {
    doubts = new Doubts(true, () => now);
    expect(doubts.wait(REQUEST, SAID, 10)).to.equal(2_000);
    now = 999;
    expect(doubts.wait(REQUEST, SAID, 10)).to.not.equal(null);
    now = 1_000;
    expect(doubts.wait(REQUEST, SAID, 10)).to.equal(null);
  });

  it("counts a thousand requests of an app; a further one waits, and gets its place when the others are over", () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => ({ id: index.toString(), app_id: "a" }));
    for (const one of ids) doubts.wait(one, SAID, 10);
    expect(doubts.wait(REQUEST, SAID, 10)).to.equal(30_000);
    // Those of another app are counted.
    expect(doubts.wait({ id: "b1", app_id: "b" }, SAID, 10)).to.equal(2_000);
    for (const one of ids) expect(doubts.wait(one, SAID, 11), one.id).to.equal(4_000);
    now = 600_001;
    expect(doubts.wait(REQUEST, SAID, 12)).to.equal(2_000);
  });
});
