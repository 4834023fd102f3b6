import { expect } from "chai";

import type { Block } from "../../../api/chain/client.ts";
import type { TokenMove } from "../../../api/domain/token.ts";
import type { ChainRange } from "../../../api/indexer/read-range.ts";
import { cut, type Slice } from "../../../api/indexer/slices.ts";

const BLOCKS = { from: 10, to: 20 };

/** A range with a header for the first and the last block, and for each block with moves. */
function rangeOf(blocks: readonly number[]): ChainRange {
  const headers = new Map(
    [BLOCKS.from, ...blocks, BLOCKS.to].map((number): [number, Block] => [
      number,
      { number, hash: number.toString(), parentHash: (number - 1).toString(), timestamp: number, gasLimit: 1n },
    ]),
  );
  const moves = blocks.map((blockNumber, logIndex): TokenMove => {
    const token = { contract: "c", tokenId: "1", quantity: "1", from: null, to: "w" };
    return { ...token, blockNumber, logIndex, subIndex: 0, transactionHash: "t" };
  });
  return {
    ...{ ...BLOCKS, head: BLOCKS.to, remember: 0 },
    indexed: { collections: new Map(), foreign: new Map(), foreignVersion: 0 },
    headers,
    relay: [],
    created: [],
    moves,
    changes: [],
    foreign: [],
    flooding: new Set(["flood"]),
    unproven: null,
  };
}

function slicesOf(range: ChainRange, most: number): Slice[] {
  const slices: Slice[] = [];
  for (let rest: ChainRange | null = range; rest !== null;) {
    const slice = cut(rest, most);
    slices.push(slice);
    rest = slice.rest;
  }
  return slices;
}

function boundsOf(slices: readonly Slice[]): number[][] {
  return slices.map(({ from, to, size }) => [from, to, size]);
}

describe("cut", () => {
  it("leaves a range whole that has few logs, or none", () => {
    expect(boundsOf(slicesOf(rangeOf([]), 2))).to.deep.equal([[10, 20, 0]]);
    expect(boundsOf(slicesOf(rangeOf([12, 13]), 2))).to.deep.equal([[10, 20, 2]]);
  });

  it("covers each block once, and never splits a block", () => {
    expect(boundsOf(slicesOf(rangeOf([10, 12, 12, 12, 15, 16, 20]), 2))).to.deep.equal([
      [10, 11, 1],
      [12, 14, 3],
      [15, 19, 2],
      [20, 20, 1],
    ]);
  });

  it("gives each slice its own logs and headers, and each first block a header", () => {
    const slices = slicesOf(rangeOf([11, 12, 14, 14, 19]), 2);
    for (const { from, to, headers, moves } of slices) {
      expect(headers.has(from), from.toString()).to.equal(true);
      for (const number of headers.keys()) expect(number).to.be.within(from, to);
      for (const { blockNumber } of moves) expect(blockNumber).to.be.within(from, to);
    }
    expect(slices.flatMap(({ moves }) => moves.map(({ blockNumber }) => blockNumber))).to.deep.equal([
      11, 12, 14, 14, 19,
    ]);
  });

  it("names contracts that flood in the first slice only", () => {
    const named = slicesOf(rangeOf([11, 12, 14]), 1).map(({ flooding }) => flooding.size);
    expect(named).to.deep.equal([1, 0, 0]);
  });
});
