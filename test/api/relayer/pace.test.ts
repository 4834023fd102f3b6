import { expect } from "chai";

import { type FlightTransaction, pauseBeforePartial } from "../../../api/relayer/pace.ts";

const NOW = 1_000_000;

/** A transaction that was signed so long ago, in milliseconds. */
function sent(ago: number, replacedAgo?: number): FlightTransaction {
  const attempt = { id: 1, hash: "0x1", raw: "0x", gasLimit: 1n, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n };
  const times = replacedAgo === undefined ? [ago] : [ago, replacedAgo];
  return { attempts: times.map((time) => ({ ...attempt, createdAt: NOW - time, sentAt: null, answer: null })) };
}

describe("pauseBeforePartial", () => {
  const pause = (...open: FlightTransaction[]) => pauseBeforePartial(open, NOW);

  it("is nothing while no transaction is in flight", () => {
    expect(pause()).to.equal(0);
  });
  it("is half a second after the first one, and longer with each further one", () => {
    expect(pause(sent(0))).to.equal(500);
    expect(pause(sent(500), sent(0))).to.equal(750);
    expect(pause(sent(1_250), sent(750), sent(0))).to.equal(1_125);
  });
  it("is what is left of it", () => {
    expect(pause(sent(499))).to.equal(1);
    expect(pause(sent(500))).to.equal(0);
    expect(pause(sent(5_000), sent(700))).to.equal(50);
  });
  it("ends only with a block when eight are in flight", () => {
    const open = (count: number) => Array.from({ length: count }, () => sent(60_000));
    expect(pause(...open(7))).to.equal(0);
    expect(pause(...open(8))).to.equal(null);
  });
  it("begins with the first version of the newest transaction, not with a replacement", () => {
    expect(pause(sent(500, 10))).to.equal(0);
  });
  it("is over when the clock was set back by more than the pause", () => {
    expect(pause(sent(-60_000))).to.equal(0);
  });
});
