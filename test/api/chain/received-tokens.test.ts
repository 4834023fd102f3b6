import { expect } from "chai";
import { zeroPadValue } from "ethers";

import { ChainClient } from "../../../api/chain/client.ts";
import { receivedTokens } from "../../../api/chain/foreign.ts";
import { MOVE_TOPICS } from "../../../api/chain/codec/decode.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { randomAddress } from "../support/rows.ts";

const HEAD = 999;
const ABORT = new AbortController().signal;

describe("receivedTokens", () => {
  const [contract, owner] = [randomAddress(), randomAddress()];
  /** Blocks in which the wallet received the token with the number of the block. */
  const received = [3, 500, 998];
  let node: FakeRpc;
  let asked: { from: number; to: number }[];

  function wordOf(value: number): string {
    return `0x${value.toString(16).padStart(64, "0")}`;
  }

  function logAt(block: number, index: number) {
    const from = zeroPadValue(randomAddress(), 32);
    return {
      address: contract,
      topics: [MOVE_TOPICS[0], from, zeroPadValue(owner, 32).toLowerCase(), wordOf(block)],
      data: "0x",
      blockNumber: `0x${block.toString(16)}`,
      blockHash: wordOf(block),
      transactionHash: wordOf(block),
      transactionIndex: "0x0",
      logIndex: `0x${index.toString(16)}`,
      removed: false,
    };
  }

  /** A provider that allows so many blocks in a query. */
  async function search(range: number) {
    asked = [];
    node.answer = ({ params }) => {
      const [{ fromBlock, toBlock }] = params as [{ fromBlock: string; toBlock: string }];
      const [from, to] = [Number(fromBlock), Number(toBlock)];
      if (to - from + 1 > range)
        return { error: { code: -32_600, message: `up to a ${range.toString()} block range` } };
      asked.push({ from, to });
      return received.filter((block) => block >= from && block <= to).map(logAt);
    };
    return receivedTokens(new ChainClient(node.url), { contract, type: "ERC721", owner }, HEAD, ABORT);
  }

  before(async () => {
    node = await startFakeRpc(() => []);
  });
  after(() => node.stop());

  it("are found by one query without a limit of blocks, and with one by ranges that are accepted, newest first", async () => {
    const found = { tokenIds: ["998", "500", "3"], from: 0 };
    expect(await search(Infinity)).to.deep.equal(found);
    expect(asked).to.deep.equal([{ from: 0, to: HEAD }]);
    expect(await search(40)).to.deep.equal(found);
    expect(asked[0]?.to).to.equal(HEAD);
    for (const [index, { from, to }] of asked.entries()) {
      expect(to - from).to.be.lessThan(40);
      if (index > 0) expect(to).to.equal((asked[index - 1]?.from ?? 0) - 1);
    }
  });

  it("are none when every query is refused, and it is said that nothing was searched", async () => {
    expect(await search(0)).to.deep.equal({ tokenIds: [], from: HEAD + 1 });
  });
});
