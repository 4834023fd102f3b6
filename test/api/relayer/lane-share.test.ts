import { expect } from "chai";

import { LaneShare } from "../../../api/relayer/lane-share.ts";

const TIMES = { lasts: 15_000, renewEvery: 5_000 };
let now = 0;

/** @param looks what each look finds; the last one stays. */
function shareOf(lanes: number, count: number, looks: number[] = [count]): LaneShare {
  return new LaneShare(
    lanes,
    {
      count,
      look: () => Promise.resolve((looks.length > 1 ? looks.shift() : looks[0]) ?? count),
    },
    TIMES,
    () => now,
  );
}

describe("LaneShare", () => {
  it("takes a share of the free lanes, rounded up", () => {
    for (const [lanes, relayers, share] of [
      [4, 1, 4],
      [4, 2, 2],
      [3, 2, 2],
      [2, 3, 1],
    ] as const) {
      const one = shareOf(lanes, relayers);
      const taken = Array.from({ length: lanes }, (_, lane) => one.reserve(lane, false)).filter(Boolean);
      expect(taken).to.have.length(share);
    }
  });

  it("takes every lane whose holder has died", () => {
    const one = shareOf(2, 2);
    expect([one.reserve(0, true), one.reserve(1, true)]).to.deep.equal([true, true]);
  });

  it("takes a lane that the others leave for as long as a lease lasts", () => {
    const one = shareOf(2, 2);
    expect([one.reserve(0, false), one.reserve(1, false)]).to.deep.equal([true, false]);
    now += TIMES.lasts;
    expect(one.reserve(1, false)).to.equal(true);
  });

  describe("given more lanes than its share", () => {
    it("gives back only what is too much, after a lease's time", async () => {
      const one = shareOf(4, 2);
      for (const lane of [0, 1, 2, 3]) one.reserve(lane, true);
      expect(await one.giveBackSurplus(0)).to.equal(false);
      now += TIMES.lasts;
      const given = await Promise.all([0, 1, 2, 3].map((lane) => one.giveBackSurplus(lane)));
      expect(given.filter(Boolean)).to.have.length(2);
      expect(one.reserve(given.indexOf(true), false)).to.equal(false);
    });

    it("keeps them if the other relayer has died since the last look", async () => {
      const one = shareOf(2, 2, [1]);
      for (const lane of [0, 1]) one.reserve(lane, true);
      now += TIMES.lasts;
      expect([await one.giveBackSurplus(0), await one.giveBackSurplus(1)]).to.deep.equal([false, false]);
    });
  });
});
