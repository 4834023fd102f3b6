import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { ChainUnavailable } from "../../../api/chain/errors.ts";
import type { IndexerContext } from "../../../api/indexer/context.ts";
import type { Indexer } from "../../../api/indexer/indexer.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { type MetaKey, readMeta, writeMeta } from "../../../api/store/db/meta.ts";
import { rememberBlocks, storedBlock } from "../../../api/store/ledger/blocks.ts";
import type { TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { apply, batchOf, minedBatch, startAtBlock } from "../support/blocks.ts";
import { follow } from "../support/follow.ts";
import { openLedger } from "../support/ledger.ts";
import { addRequest, APP, hashOf, randomContracts, requestRow } from "../support/rows.ts";
import { createIndexer, FakeChain } from "./support/fake-chain.ts";

const CONFIRMATIONS = 3;
/** Receipts prove all logs, so only hashes are compared. */
const PROVEN = { check: () => Promise.resolve(true), isProving: () => Promise.resolve(true) };

const LOG_QUERIES = { blocks: 1_000, addresses: 100, topicsAbove: 100 };

describe("Agreement", () => {
  let database: TestDatabase;
  let branches: FakeChain[] = [];
  let nodes: Nodes | null = null;
  let undone: number[] = [];
  const contracts = randomContracts();

  beforeEach(async () => {
    undone = [];
    database = await openLedger();
    await startAtBlock(database, 0);
  });
  afterEach(async () => {
    nodes?.stop();
    for (const { fake } of branches) await fake.stop();
    branches = [];
    await database.remove();
  });

  const nodeOf = async (head: number): Promise<FakeChain> => {
    const branch = await FakeChain.start(branches.length.toString(), head);
    branches.push(branch);
    return branch;
  };
  const open = (
    receipts: typeof PROVEN | null = null,
    sliceSize: IndexerContext["sliceSize"] | null = null,
  ): { indexer: Indexer; nodes: Nodes } => {
    const nothing = () => undefined;
    nodes?.stop();
    nodes = new Nodes(
      branches.map(({ fake }) => fake.url),
      { floor: () => meta("checkpoint"), logger: { warn: nothing, info: nothing }, logQueries: LOG_QUERIES },
    );
    const client = new ChainClient(nodes);
    const options = { contracts, confirmations: CONFIRMATIONS, reorg: (blocks: number) => undone.push(blocks) };
    const chosen = { ...(receipts && { receipts }), ...(sliceSize && { sliceSize }) };
    return { indexer: createIndexer(database, client, { ...options, ...chosen }), nodes };
  };
  const meta = async (key: MetaKey) => Number(await readMeta(database.read, key));
  /** As often as a service would have done after some time. */
  const steps = async (indexer: Indexer, count = 8) => {
    for (let step = 0; step < count; step++) await indexer.step().catch(() => undefined);
  };

  describe("given three nodes, of which the first invents blocks above those of the others", () => {
    it("makes none of them final, and goes on without it", async () => {
      const [liar, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      const { indexer, nodes } = open();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(58);
      liar.fork = 61;
      liar.head = 100;
      await nodes.examine();
      await steps(indexer);
      await nodes.examine();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.be.at.most(60);
      // The others reach these blocks, and have others.
      second.head = third.head = 90;
      await nodes.examine();
      await steps(indexer, 20);
      await nodes.examine();
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
      expect((await storedBlock(database.read, 88))?.hash).to.equal(hashOf("main 88"));
    });
  });

  describe("given three nodes, of which the first forgets a log, and a followed contract with too many logs for the third", () => {
    it("goes on without the first", async () => {
      const [first, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      // A contract of others.
      const floods = await follow(database, { app: APP });
      const { indexer, nodes } = open();
      await steps(indexer);
      third.floods = floods;
      for (const { logs } of [second, third]) logs.set(70, contracts.relay);
      for (const { logs } of [first, second, third]) logs.set(71, floods);
      for (const branch of branches) branch.head = 90;
      await steps(indexer);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
    });
  });

  const kill = (node: FakeChain, isDead = true) => {
    node.fake.raw = isDead ? (_calls, response) => response.destroy() : null;
  };

  describe("given two nodes that have different blocks", () => {
    it("makes none of these final until they agree, also while one of them is dead", async () => {
      const [first, second] = [await nodeOf(60), await nodeOf(60)];
      const { indexer, nodes } = open(PROVEN);
      await steps(indexer);
      second.fork = 62;
      first.head = second.head = 90;
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(58);
      kill(second);
      await nodes.examine();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(58);
      kill(second, false);
      second.fork = Infinity;
      await nodes.examine();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(88);
    });
  });

  describe("given two nodes, of which only the first has a block with a success and a failure", () => {
    const FAILED = { ok: false, errorCode: "execution_reverted", errors: null } as const;
    let success = "";
    let failure = "";
    let second: FakeChain;
    let indexer: Indexer;
    let choice: Nodes;

    beforeEach(async () => {
      const first = await nodeOf(60);
      second = await nodeOf(60);
      ({ indexer, nodes: choice } = open(PROVEN));
      await steps(indexer);
      const command = { kind: "announce-metadata", collection: "0x", tokenId: null } as const;
      [success, failure] = [(await addRequest(database, command)).id, (await addRequest(database, command)).id];
      const sent = await batchOf(database, [success, failure]);
      const mined = minedBatch(sent, 61, ({ id }) =>
        id === failure ? FAILED : { ok: true, collection: null, tokenId: null },
      );
      await apply(database, { block: 61, confirmed: 58, batches: [mined] });
      first.head = 90;
    });
    const statuses = async () => [
      (await requestRow(database, success)).status,
      (await requestRow(database, failure)).status,
    ];

    it("settles the success; the failure waits until the second node answers", async () => {
      kill(second);
      await choice.examine();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(88);
      expect(await statuses()).to.deep.equal(["completed", "processing"]);
      second.head = 90;
      kill(second, false);
      await choice.examine();
      await steps(indexer);
      expect(await statuses()).to.deep.equal(["completed", "failed"]);
    });

    it("reads the block of the failure again after a restart, where receipts prove nothing", async () => {
      kill(second);
      await choice.examine();
      await steps(indexer);
      expect(await statuses()).to.deep.equal(["completed", "processing"]);
      await steps(open().indexer, 1);
      expect([await meta("checkpoint"), undone]).to.deep.equal([60, [30]]);
    });

    it("says that requests wait for the nodes, until the second one answers", async () => {
      kill(second);
      await choice.examine();
      const abort = new AbortController();
      const options = { contracts, confirmations: CONFIRMATIONS, receipts: PROVEN, leaseTimes: leaseTimes(10) };
      const running = createIndexer(database, new ChainClient(choice), options).run(abort.signal);
      const word = () => readMeta(database.read, "indexer_waits_for");
      try {
        await eventually(async () => ((await word()) === "nodes_disagree" ? true : undefined));
        second.head = 90;
        kill(second, false);
        await choice.examine();
        await eventually(async () => ((await word()) === null ? true : undefined));
        expect(await statuses()).to.deep.equal(["completed", "failed"]);
      } finally {
        abort.abort();
        await running;
      }
    });

    it("settles the failure as soon as the second node has its block, however far it is behind the first", async () => {
      await steps(indexer);
      expect(await statuses()).to.deep.equal(["completed", "processing"]);
      second.head = 61;
      await choice.examine();
      await steps(indexer);
      expect(await meta("confirmed_block")).to.equal(88);
      expect(await statuses()).to.deep.equal(["completed", "failed"]);
    });
  });

  describe("given nodes whose logs nothing proves", () => {
    it("undoes what it read of a node that tells the truth again before the block is final", async () => {
      const [first, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      const { indexer } = open();
      await steps(indexer);
      for (const { logs } of [second, third]) logs.set(61, contracts.relay);
      for (const branch of branches) branch.head = 62;
      await steps(indexer, 2);
      expect(await meta("checkpoint")).to.equal(62);
      first.logs.set(61, contracts.relay);
      for (const branch of branches) branch.head = 90;
      await steps(indexer);
      expect(undone).to.deep.equal([32]);
      expect(await meta("confirmed_block")).to.equal(88);
    });

    it("undoes a slice of a node that forgot a log and then failed, before it gave the facts of the next slice", async () => {
      const [first, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      const followed = await follow(database, { app: APP });
      let slicesUntilFailure = Infinity;
      const { indexer, nodes } = open(null, {
        took: () => void (slicesUntilFailure -= 1),
        get value() {
          if (slicesUntilFailure > 0) return 1;
          slicesUntilFailure = Infinity;
          throw new ChainUnavailable("the node does not answer");
        },
      });
      await steps(indexer);
      for (const { logs } of [second, third]) logs.set(61, contracts.relay);
      // One slice ends with block 62, and the next one with block 63.
      for (const { logs } of [first, second, third]) logs.set(62, followed).set(63, followed);
      for (const branch of branches) branch.head = 63;
      slicesUntilFailure = 1;
      await steps(indexer, 2);
      expect([await meta("checkpoint"), slicesUntilFailure]).to.deep.equal([63, Infinity]);
      for (const branch of branches) branch.head = 90;
      await steps(indexer);
      expect(undone).to.deep.equal([32]);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
    });

    it("does not undo what one node contradicts while the one that said it is silent", async () => {
      const [first, second] = [await nodeOf(60), await nodeOf(60)];
      const { indexer } = open();
      await steps(indexer);
      first.logs.set(61, contracts.relay);
      first.head = second.head = 62;
      await steps(indexer, 2);
      first.hasNoLogs = true;
      first.head = second.head = 90;
      await steps(indexer);
      expect([await meta("confirmed_block"), undone]).to.deep.equal([58, []]);
      first.hasNoLogs = false;
      second.logs.set(61, contracts.relay);
      await steps(indexer);
      expect([await meta("confirmed_block"), undone]).to.deep.equal([88, []]);
    });

    it("reads blocks that are not final again after a restart, because nobody knows which logs were read", async () => {
      const both = [await nodeOf(60), await nodeOf(60)];
      await steps(open().indexer);
      for (const branch of both) branch.head = 62;
      await steps(open().indexer, 1);
      expect([await meta("checkpoint"), undone]).to.deep.equal([58, [2]]);
      await steps(open(PROVEN).indexer);
      expect([await meta("checkpoint"), undone]).to.deep.equal([62, [2]]);
    });
  });

  describe("given two processes that take turns, because the lease of one ended with an error", () => {
    it("reads blocks of the other one again where receipts prove nothing", async () => {
      const [liar, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      const { indexer, nodes } = open();
      await steps(indexer);
      const other = createIndexer(database, new ChainClient(liar.fake.url), { contracts, confirmations: 5 });
      for (const { logs } of [second, third]) logs.set(61, contracts.relay);
      for (const branch of branches) branch.head = 62;
      await steps(other, 1);
      expect([await meta("checkpoint"), undone]).to.deep.equal([62, []]);
      await steps(indexer, 1);
      expect([await meta("checkpoint"), undone]).to.deep.equal([58, [4]]);
      for (const branch of branches) branch.head = 90;
      await steps(indexer);
      expect(nodes.state().states.map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
    });
  });

  describe("given the nodes agree again when far more blocks are stored than may be ahead", () => {
    it("goes on", async () => {
      const stored = 60_000;
      for (const node of [await nodeOf(stored), await nodeOf(stored)]) node.head = stored + 50;
      await database.write((trx) => writeMeta(trx, "checkpoint", stored.toString()));
      await database.write((trx) => writeMeta(trx, "confirmed_block", "0"));
      const headers = [1_000, 2_000, 3_000, 4_000, 5_000, stored].map((number) => ({
        number,
        ...{ hash: hashOf(`main ${number.toString()}`), parent_hash: hashOf("parent"), timestamp: 1 },
      }));
      await database.write((trx) => rememberBlocks(trx, headers, 0));
      await steps(open(PROVEN).indexer, 5);
      expect(await meta("confirmed_block")).to.equal(5_000);
    });
  });
});
