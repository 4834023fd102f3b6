import { expect } from "chai";

import {
  affordableGas,
  affordsAnother,
  type FlightTransaction,
  fillsBlocks,
  largestLike,
  limitThatFills,
  mayAddToFlight,
  pauseBeforePartial,
} from "../../../api/relayer/pace.ts";

const FEES = { maxFeePerGas: 10n, maxPriorityFeePerGas: 1n };

/** A transaction whose versions were signed at these times. */
function transactionOf(times: readonly number[], gasLimit = 1): FlightTransaction {
  const attempt = { hash: "0x1", raw: "0x", gasLimit: BigInt(gasLimit), sentAt: null, answer: null, ...FEES };
  return { attempts: times.map((createdAt, id) => ({ ...attempt, id, createdAt })) };
}

/** Transactions in flight with a gas limit each. */
function inFlight(count: number, gasLimit: number, attempts = 1): FlightTransaction[] {
  return Array.from({ length: count }, () => transactionOf(Array<number>(attempts).fill(1), gasLimit));
}

const NOW = 1_000_000;

/** A transaction that was signed so long ago, in milliseconds. */
function sent(ago: number, ...replacedAgo: number[]): FlightTransaction {
  return transactionOf([ago, ...replacedAgo].map((time) => NOW - time));
}

describe("pauseBeforePartial", () => {
  const cases: [string, FlightTransaction[], number | null][] = [
    ["nothing while no transaction is in flight", [], 0],
    ["half a second after the first one", [sent(0)], 500],
    ["longer with a further one", [sent(500), sent(0)], 750],
    ["longer with each further one", [sent(1_250), sent(750), sent(0)], 1_125],
    ["what is left of it", [sent(499)], 1],
    ["over when it has passed", [sent(500)], 0],
    ["what is left of a longer one", [sent(5_000), sent(700)], 50],
    ["over with seven in flight", Array<FlightTransaction>(7).fill(sent(60_000)), 0],
    ["over only with a block when eight are in flight", Array<FlightTransaction>(8).fill(sent(60_000)), null],
    ["begun with the first version of the newest transaction, not with a replacement", [sent(500, 10)], 0],
    ["over when the clock was set back by more than the pause", [sent(-60_000)], 0],
  ];
  for (const [what, open, pause] of cases)
    it(`is ${what}`, () => {
      expect(pauseBeforePartial(open, NOW)).to.equal(pause);
    });
});

describe("mayAddToFlight", () => {
  const most = (gasLimit: number, blockGas: number | null, lanes = 1) => {
    let count = 0;
    while (mayAddToFlight(inFlight(count, gasLimit), blockGas, lanes)) count++;
    return count;
  };

  it("allows two blocks of transactions, shared among the lanes, but never less than four or more than sixteen", () => {
    expect(most(15_000_000, 60_000_000)).to.equal(8);
    expect(most(8_000_000, 30_000_000)).to.equal(8);
    expect(most(8_000_000, 120_000_000, 3)).to.equal(10);
    for (const few of [most(16_000_000, 16_000_000), most(15_000_000, null), most(8_000_000, 120_000_000, 30)])
      expect(few).to.equal(4);
    // Nodes refuse more of one account.
    expect(most(15_000_000, 2 ** 50)).to.equal(16);
  });
  it("allows four while a transaction had to be replaced", () => {
    expect(mayAddToFlight(inFlight(4, 1_000_000, 2), 60_000_000, 1)).to.equal(false);
    expect(mayAddToFlight(inFlight(3, 1_000_000, 2), 60_000_000, 1)).to.equal(true);
  });
});

describe("affordsAnother", () => {
  const affords = (count: number, funds: bigint) =>
    affordsAnother(inFlight(count, 100), { funds, fees: FEES, mostGas: 200 });

  it("counts what is in flight and the next transaction at their highest fees, and holds up none of the first four", () => {
    // Five of 100 gas and one of 200 gas, at 10 wei each.
    expect([affords(5, 7_000n), affords(5, 6_999n), affords(3, 0n)]).to.deep.equal([true, false, true]);
  });
});

describe("affordableGas", () => {
  it("is what the funds pay for at the highest fee, beside what the transactions in flight can cost", () => {
    expect(affordableGas([], 7_009n, FEES)).to.equal(700);
    expect(affordableGas([], 0n, { ...FEES, maxFeePerGas: 0n })).to.equal(Infinity);
    expect(affordableGas(inFlight(2, 100), 7_009n, FEES)).to.equal(500);
    expect(affordableGas(inFlight(8, 100), 7_009n, FEES)).to.equal(0);
  });
});

describe("fillsBlocks", () => {
  it("begins with half a block of transactions in flight, of all lanes together", () => {
    expect(fillsBlocks(inFlight(3, 8_000_000), 60_000_000, 1)).to.equal(false);
    expect(fillsBlocks(inFlight(4, 8_000_000), 60_000_000, 1)).to.equal(true);
    expect(fillsBlocks(inFlight(2, 8_000_000), 60_000_000, 2)).to.equal(true);
  });
});

describe("largestLike", () => {
  const MOST = { items: 250, gas: 16_777_216 };
  const [each, spare] = [28_000, 700_000];
  const batchOf = (size: number) => ({ limit: size * each + spare, expected: size * each });

  it("is a batch with the most items, or with the most gas", () => {
    expect(largestLike(batchOf(10), 10, MOST)).to.deep.equal(batchOf(250));
    expect(largestLike({ limit: 2_700_000, expected: 2_000_000 }, 10, MOST).limit).to.equal(MOST.gas);
    expect(largestLike(batchOf(250), 250, MOST)).to.deep.equal(batchOf(250));
  });

  for (const blockGas of [16_800_000, 20_000_000, 30_000_000, 36_000_000, 45_000_000, 60_000_000, 200_000_000]) {
    it(`lets batches that were small grow again in blocks of ${blockGas.toString()} gas`, () => {
      const fitting = (limit: number) => Math.floor((limit - spare) / each);
      const filling = (size: number) =>
        Math.min(size, fitting(limitThatFills(largestLike(batchOf(size), size, MOST), blockGas)));
      const full = filling(MOST.items);
      for (let first = 1; first < MOST.items; first++) {
        // As the sender claims: a little more than in a batch that was made smaller, else twice as much.
        let [size, claimed] = [0, first];
        for (let batches = 0; batches < 20; batches++) {
          size = filling(claimed);
          claimed = Math.min(MOST.items, size < claimed ? Math.ceil(size * 1.05) + 1 : claimed * 2);
        }
        expect(size, `from ${first.toString()}`).to.be.at.least(full - 1);
      }
    });
  }
});

describe("limitThatFills", () => {
  /** How much of a block such transactions use. A node adds one only if its whole limit still fits. */
  function shareOf(batch: { limit: number; expected: number }, blockGas: number): number {
    let used = 0;
    while (used + batch.limit <= blockGas) used += batch.expected;
    return used / blockGas;
  }

  for (const blockGas of [30_000_000, 36_000_000, 45_000_000, 60_000_000, 100_000_000]) {
    it(`fills blocks of ${blockGas.toString()} gas with transactions of any size`, () => {
      const spare = 700_000;
      for (let limit = 3_000_000; limit <= 16_777_216; limit += 100_000) {
        const filling = limitThatFills({ limit, expected: limit - spare }, blockGas);
        expect(filling).to.be.at.most(limit);
        const share = shareOf({ limit: filling, expected: filling - spare }, blockGas);
        expect(share, `limit ${limit.toString()}, made ${filling.toString()}`).to.be.above(0.95);
      }
    });
  }

  it("leaves transactions alone whose blocks are much larger, or smaller", () => {
    const batch = { limit: 16_000_000, expected: 15_000_000 };
    expect(limitThatFills(batch, 2 ** 50)).to.equal(batch.limit);
    expect(limitThatFills(batch, 10_000_000)).to.equal(batch.limit);
  });
});
