import { expect } from "chai";
import { zeroPadValue } from "ethers";

import { ChainClient } from "../../../api/chain/client.ts";
import { ChainUnavailable, NodeDisagrees, RateLimited, RpcError } from "../../../api/chain/errors.ts";
import { createForeignContracts } from "../../../api/chain/foreign.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { simulatePlannedCalls } from "../../../api/chain/simulate-calls.ts";
import type { Command } from "../../../api/domain/command.ts";
import { readHoldings } from "../../../api/chain/foreign.ts";
import { feesOfReplacement } from "../../../api/relayer/can-send.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";

const SECRET = "key-of-the-provider";
const CHECKPOINT = 100;
const LOG = {
  address: `0x${"22".repeat(20)}`,
  topics: [`0x${"33".repeat(32)}`],
  data: "0x",
  blockNumber: "0x6d",
  blockHash: `0x${"44".repeat(32)}`,
  transactionHash: `0x${"55".repeat(32)}`,
  transactionIndex: "0x0",
  logIndex: "0x0",
  removed: false,
};

const BLOCK = {
  number: "0x64",
  hash: `0x${"66".repeat(32)}`,
  parentHash: `0x${"77".repeat(32)}`,
  timestamp: "0x1",
  gasLimit: "0x3938700",
};

describe("Nodes", () => {
  let fakes: FakeRpc[] = [];
  let nodes: Nodes;
  let client: ChainClient;
  const logged: object[] = [];

  beforeEach(async () => {
    logged.length = 0;
    fakes = [await startFakeRpc(answerAt(CHECKPOINT)), await startFakeRpc(answerAt(CHECKPOINT))];
    nodes = open();
    client = new ChainClient(nodes);
  });
  afterEach(async () => {
    nodes.stop();
    for (const fake of fakes) await fake.stop();
  });

  function open(options: { maxWait?: number } = {}): Nodes {
    const log = (fields: object) => logged.push(fields);
    return new Nodes(
      fakes.map(({ url }) => `${url}/${SECRET}`),
      { readOnly: [], floor: () => Promise.resolve(CHECKPOINT), logger: { warn: log, info: log }, ...options },
    );
  }

  /** Nodes for one test, instead of the usual ones. */
  function reopen(options: { maxWait?: number }): void {
    nodes.stop();
    nodes = open(options);
    client = new ChainClient(nodes);
  }

  function limit(number: number, retryAfter: number): void {
    fake(number).raw = (_calls, response) => {
      fake(number).raw = null;
      response.writeHead(429, { "retry-after": retryAfter.toString() }).end("Too Many Requests");
    };
  }

  /** A node whose newest block has this number, and whose balances are that number. */
  function answerAt(head: number): FakeRpc["answer"] {
    return () => `0x${head.toString(16)}`;
  }

  function fake(number: number): FakeRpc {
    const found = fakes[number - 1];
    if (found === undefined) throw new Error("there is no such node");
    return found;
  }

  function die(number: number): void {
    fake(number).raw = (_calls, response) => response.destroy();
  }

  async function failure(promise: Promise<unknown>): Promise<Error> {
    const error = await promise.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (error instanceof Error) return error;
    throw new Error("it did not fail");
  }

  describe("given a node that does not answer", () => {
    it("asks the next one, and does not come back until a probe has answered", async () => {
      const asked = () =>
        nodes.session(async () => {
          await client.headNumber();
          return nodes.number;
        });
      die(1);
      expect(await asked()).to.equal(2);
      expect(await asked()).to.equal(2);
      fake(1).raw = null;
      await nodes.examine();
      expect(await asked()).to.equal(1);
      expect(logged).to.have.length(2);
    });

    it("does the whole work of a session again with the next one", async () => {
      const seen: number[] = [];
      const result = await nodes.session(async () => {
        seen.push(nodes.number);
        const head = await client.headNumber();
        if (seen.length === 1) die(1);
        return [head, await client.headNumber()];
      });
      expect(result).to.deep.equal([CHECKPOINT, CHECKPOINT]);
      expect(seen).to.deep.equal([1, 2]);
    });

    it("names it by number and host, and never shows its URL", async () => {
      die(1);
      die(2);
      const error = await failure(client.headNumber());
      expect(error).to.be.instanceOf(ChainUnavailable);
      const host = new URL(fake(1).url).host;
      expect(error.message).to.match(/^node [12] \(127\.0\.0\.1:\d+\): the node cannot be reached: check RPC_URLS/);
      expect(nodes.state().states[0]).to.include({ number: 1, host, word: "down" });
      expect(JSON.stringify([error.message, error.stack, nodes.state().states, logged, nodes.where])).to.not.contain(
        SECRET,
      );
    });
  });

  describe("given a provider that limits the rate of calls", () => {
    it("goes on with the other node at once, and lets the first one rest", async () => {
      reopen({ maxWait: 5_000 });
      limit(1, 300);
      expect(await client.headNumber()).to.equal(CHECKPOINT);
      expect(await client.headNumber()).to.equal(CHECKPOINT);
      expect(fake(1).calls).to.have.length(1);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["rate_limited", "up"]);
    });

    it("waits for the first that has calls left, when all nodes are limited", async () => {
      reopen({ maxWait: 5_000 });
      limit(1, 300);
      limit(2, 1);
      expect(await client.headNumber()).to.equal(CHECKPOINT);
      expect(fake(1).calls).to.have.length(1);
      expect(fake(2).calls.length).to.be.above(1);
    });

    it("says so when none has calls left in time", async () => {
      reopen({ maxWait: 5_000 });
      limit(1, 300);
      limit(2, 200);
      expect(await failure(client.headNumber())).to.be.instanceOf(RateLimited);
    });
  });

  describe("given a simulation that fails, and another node that does not answer in time", () => {
    it("reports the failure as the word of one node", async () => {
      fake(1).answer = ({ method }) => {
        if (method === "eth_estimateGas") return { error: { code: 3, message: "execution reverted", data: "0x" } };
        return method === "eth_getBlockByNumber" ? BLOCK : "0x64";
      };
      fake(2).raw = () => undefined;
      const address = `0x${"11".repeat(20)}`;
      const token = { contract: address, contractType: "ERC721", foreign: false, tokenId: "1", quantity: "1" } as const;
      const command: Command = { kind: "transfer", ...token, from: address, to: address };
      const call = { command, number: 1n, needsDelegation: false, target: address, data: "0x" };
      const conditions = { block: CHECKPOINT, itemGas: 100_000, abort: AbortSignal.timeout(1_000) };
      const [result] = await simulatePlannedCalls(client, { relay: address, delegate: address }, [call], conditions);
      expect(result).to.deep.include({ confirmed: false, block: CHECKPOINT });
      expect(result).to.have.nested.property("failure.errorCode", "receiver_rejected");
    });
  });

  describe("given a node that lacks the state of the newest block", () => {
    it("asks the next one for a contract of others, with its control call", async () => {
      fake(1).answer = ({ method }) =>
        method === "eth_call" ? { error: { code: -32000, message: "missing trie node" } } : "0x64";
      const owner = `0x${"11".repeat(20)}`;
      const control = "0x6d6f6e657461";
      fake(2).answer = ({ method, params }) => {
        if (method !== "eth_call") return "0x64";
        return (params[0] as { data: string }).data === control ? control : zeroPadValue(owner, 32);
      };
      const query = { contract: `0x${"22".repeat(20)}`, type: "ERC721", tokenId: "1", owner } as const;
      const held = await createForeignContracts(client, 100_000).holdings([query], new AbortController().signal);
      expect(held).to.deep.equal([1n]);
    });
  });

  describe("given a node behind the database", () => {
    beforeEach(() => {
      fake(1).answer = answerAt(CHECKPOINT - 50);
    });

    it("does not use its newest state, but that of the next one", async () => {
      expect(await client.balance(`0x${"11".repeat(20)}`)).to.equal(BigInt(CHECKPOINT));
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["behind", "up"]);
    });

    it("says so when all are behind", async () => {
      fake(2).answer = answerAt(CHECKPOINT - 1);
      const error = await failure(client.balance(`0x${"11".repeat(20)}`));
      expect(error.message).to.match(/is at block (50|99), and has not reached block 100/);
    });

    it("takes the highest nonce", async () => {
      fake(2).answer = answerAt(CHECKPOINT + 7);
      expect(await client.highestNonces([`0x${"11".repeat(20)}`])).to.deep.equal([CHECKPOINT + 7]);
    });
  });

  describe("given three nodes, one of which names a far too high nonce", () => {
    it("believes two others about a lane's nonce, and the highest where nothing may run twice", async () => {
      const third = await startFakeRpc(answerAt(CHECKPOINT + 1));
      fake(1).answer = ({ method }) => (method === "eth_getTransactionCount" ? "0xffffffff" : "0x64");
      const three = new Nodes(
        [...fakes, third].map(({ url }) => url),
        {
          readOnly: [],
          floor: () => Promise.resolve(CHECKPOINT),
          logger: { warn: () => undefined, info: () => undefined },
        },
      );
      const ofThree = new ChainClient(three);
      expect(await ofThree.reachedNonces([`0x${"11".repeat(20)}`])).to.deep.equal([CHECKPOINT + 1]);
      expect(await ofThree.highestNonces([`0x${"11".repeat(20)}`])).to.deep.equal([0xffffffff]);
      three.stop();
      await third.stop();
    });
  });

  describe("given a node whose answer was wrong", () => {
    it("does not read it for a while, although it answers calls", async () => {
      const wrong = new NodeDisagrees("its receipts differ");
      const session = nodes.session(() => (nodes.number === 1 ? nodes.skip(wrong) : client.headNumber()));
      expect(await session).to.equal(CHECKPOINT);
      await nodes.examine();
      expect(nodes.number).to.equal(2);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up"]);
    });
  });

  describe("given a node that names a far too high fee", () => {
    const answers = (fee: string): FakeRpc["answer"] => {
      const head = answerAt(CHECKPOINT);
      return (call) => (call.method === "eth_maxPriorityFeePerGas" ? fee : head(call));
    };
    const asked = (number: number) =>
      fake(number).calls.filter(({ method }) => method === "eth_maxPriorityFeePerGas").length;

    it("takes the other node's, and says so once a minute", async () => {
      fake(1).answer = answers("0x3b9aca00");
      fake(2).answer = answers("0x64");
      expect([await client.priorityFee(), await client.priorityFee()]).to.deep.equal([100n, 100n]);
      expect(logged).to.deep.equal([{ node: 1, wei: "1000000000", taken: "100" }]);
    });

    it("asks the other node once a minute while the first one's is at most twice as high", async () => {
      fake(1).answer = answers("0xc8");
      fake(2).answer = answers("0x64");
      expect([await client.priorityFee(), await client.priorityFee()]).to.deep.equal([200n, 200n]);
      expect([asked(1), asked(2), logged.length]).to.deep.equal([2, 1, 0]);
      fake(1).answer = answers("0xc9");
      expect(await client.priorityFee()).to.equal(100n);
    });

    it("takes the first one's when no other node answers", async () => {
      fake(1).answer = answers("0xc8");
      die(2);
      expect(await client.priorityFee()).to.equal(200n);
    });

    it("takes the middle one of three, so that one that names none is not believed either", async () => {
      fakes.push(await startFakeRpc(answers("0xc8")));
      reopen({});
      fake(1).answer = answers("0x64");
      fake(2).answer = answers("0x0");
      expect(await client.priorityFee()).to.equal(100n);
    });

    describe("given two nodes that name different base fees", () => {
      const block = (baseFeePerGas: string): FakeRpc["answer"] => {
        const shown = { ...BLOCK, baseFeePerGas };
        return ({ method }) => (method === "eth_getBlockByNumber" ? shown : "0x64");
      };

      it("does not stop the sending for the one that a node invents: the node rests", async () => {
        fake(1).answer = block("0x3b9aca00");
        fake(2).answer = block("0x8");
        const { fees } = await feesOfReplacement(client, 1_000n);
        expect(fees).to.deep.equal({ maxFeePerGas: 116n, maxPriorityFeePerGas: 100n });
        expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up"]);
      });

      it("pays the higher one for a replacement: the lower one may be why the transaction is unmined", async () => {
        fake(1).answer = block("0x0");
        fake(2).answer = block("0x8");
        const { fees } = await feesOfReplacement(client, 1_000n);
        expect(fees).to.deep.equal({ maxFeePerGas: 116n, maxPriorityFeePerGas: 100n });
      });
    });
  });

  describe("given a node on which all calls of a contract fail", () => {
    const query = {
      contract: `0x${"22".repeat(20)}`,
      type: "ERC1155",
      tokenId: "1",
      owner: `0x${"33".repeat(20)}`,
    } as const;
    /** What runs is the control call only; the contract's own call gets this answer. */
    const contractAnswers =
      (answer: unknown): FakeRpc["answer"] =>
      ({ method, params: [call] }) => {
        if (method !== "eth_call") return "0x64";
        const { to, data } = call as { to: string; data: string };
        return to === query.contract ? answer : data;
      };
    const FAILED = { error: { code: -32_000, message: "out of gas" } };

    it("takes the answer of another one: the contract is not to blame", async () => {
      fake(1).answer = contractAnswers(FAILED);
      fake(2).answer = contractAnswers(`0x${"5".padStart(64, "0")}`);
      expect(await readHoldings(client, [query], { gas: 100_000, block: 100 })).to.deep.equal([5n]);
    });

    it("says that they fail if they fail on the other one, too", async () => {
      for (const number of [1, 2]) fake(number).answer = contractAnswers(FAILED);
      expect(await readHoldings(client, [query], { gas: 100_000, block: 100 })).to.deep.equal(["failed"]);
    });
  });

  describe("given a node that differs from most others", () => {
    it("does not read it, not even when all others are dead, but still hears its word", async () => {
      nodes.differ([1], CHECKPOINT);
      expect(nodes.number).to.equal(2);
      expect(nodes.disagreement).to.equal(CHECKPOINT);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up"]);
      const votes = await nodes.vote(() => client.headNumber(), "others");
      expect(votes).to.deep.equal([{ node: 1, answer: CHECKPOINT, counts: false }]);
      // About a reorg only nodes that work are asked.
      expect(await nodes.vote(() => client.headNumber(), "working others")).to.deep.equal([]);
      die(2);
      expect((await failure(client.headNumber())).message).to.match(/^node 2/);
      nodes.agree([1]);
      expect(await client.headNumber()).to.equal(CHECKPOINT);
    });
  });

  describe("given a node that does not name its newest block", () => {
    beforeEach(() => {
      fake(1).answer = ({ method }) =>
        method === "eth_blockNumber" ? { error: { code: -32000, message: "not ready" } } : "0x1";
    });

    it("does not use its newest state, which may be old", async () => {
      expect(await client.balance(`0x${"11".repeat(20)}`)).to.equal(BigInt(CHECKPOINT));
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["down", "up"]);
    });

    it("leaves it alone after a probe, as any node that fails", async () => {
      await nodes.examine();
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["down", "up"]);
    });
  });

  describe("given a node that has not reached the last block of a log query", () => {
    it("does not take its empty list for the logs, but asks the next one", async () => {
      const answers = (head: number, logs: object[]) => (call: { method: string }) =>
        call.method === "eth_getLogs" ? logs : `0x${head.toString(16)}`;
      fake(1).answer = answers(CHECKPOINT + 5, []);
      fake(2).answer = answers(CHECKPOINT + 9, [LOG]);
      const filter = { address: [LOG.address], topics: [] };
      expect(await client.logs(filter, { from: CHECKPOINT, to: CHECKPOINT + 9 })).to.have.length(1);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["behind", "up"]);
    });
  });

  describe("broadcast", () => {
    const refusal = (message: string) => () => ({ error: { code: -32000, message } });

    it("succeeds when one node takes the bytes, or has them already", async () => {
      for (const words of ["already known", "AlreadyKnown"]) {
        fake(1).answer = refusal("transaction type not supported");
        fake(2).answer = refusal(words);
        await nodes.broadcast("0x01");
      }
      die(1);
      fake(2).answer = answerAt(1);
      await nodes.broadcast("0x01");
    });

    it("reports the mildest of the answers: a refusal for good is none while another node may have the bytes", async () => {
      fake(1).answer = refusal("transaction type not supported");
      fake(2).answer = refusal("txpool is full");
      expect(await failure(nodes.broadcast("0x01"))).to.include({ message: "txpool is full" });
      die(1);
      expect(await failure(nodes.broadcast("0x01"))).to.include({ message: "txpool is full" });
      await nodes.examine();
      for (const words of ["transaction type not supported", "an error that nobody knows"]) {
        fake(1).raw = null;
        await nodes.examine();
        die(1);
        fake(2).answer = refusal(words);
        expect(await failure(nodes.broadcast("0x01"))).to.be.instanceOf(ChainUnavailable);
        // The first does not work now: the second alone says what happens.
        expect(await failure(nodes.broadcast("0x01"))).to.be.instanceOf(RpcError);
      }
    });
  });
});
