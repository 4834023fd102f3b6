import { expect } from "chai";
import pino from "pino";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { Indexer } from "../../../api/indexer/indexer.ts";
import { createSignals } from "../../../api/shared/signal.ts";
import { type MetaKey, readMeta, writeMeta } from "../../../api/store/db/meta.ts";
import { storedBlock } from "../../../api/store/ledger/blocks.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { startAtBlock } from "../support/blocks.ts";
import { hashOf, randomContracts } from "../support/rows.ts";

const CONFIRMATIONS = 3;

/** A node, and the block from which on its chain is its own. */
interface Branch {
  head: number;
  fork: number;
  fake: FakeRpc;
}

describe("Agreement", () => {
  let database: TestDatabase;
  let branches: Branch[] = [];
  let nodes: Nodes | null = null;

  beforeEach(async () => {
    database = await openTestDatabase();
    await startAtBlock(database, 0);
  });
  afterEach(async () => {
    nodes?.stop();
    for (const { fake } of branches) await fake.stop();
    branches = [];
    await database.remove();
  });

  const hex = (number: number) => `0x${number.toString(16)}`;
  const nodeOf = async (head: number): Promise<Branch> => {
    const name = branches.length.toString();
    const hashAt = (number: number) => hashOf(`${number >= branch.fork ? name : "main"} ${number.toString()}`);
    const fake = await startFakeRpc(({ method, params }) => {
      if (method === "eth_blockNumber") return hex(branch.head);
      if (method === "eth_getLogs") return [];
      const number = Number(params[0]);
      const block = { number: hex(number), hash: hashAt(number), parentHash: hashAt(number - 1) };
      return number > branch.head ? null : { ...block, timestamp: "0x1", gasLimit: "0x1" };
    });
    const branch: Branch = { head, fork: Infinity, fake };
    branches.push(branch);
    return branch;
  };
  const open = (): { indexer: Indexer; nodes: Nodes } => {
    const nothing = () => undefined;
    nodes = new Nodes(
      branches.map(({ fake }) => fake.url),
      {
        readOnly: [],
        floor: () => meta("checkpoint"),
        logger: { warn: nothing, info: nothing },
      },
    );
    const indexer = new Indexer({
      database,
      client: new ChainClient(nodes, { blocks: 1_000, addresses: 100, topicsAbove: 100 }),
      contracts: randomContracts(),
      signals: createSignals(),
      logger: pino({ level: "silent" }),
      confirmations: CONFIRMATIONS,
      pollInterval: 1_000,
      now: () => 1_000,
      foreignCallGas: 1,
      maxForeignLogs: 1_000,
      metrics: { requests: nothing, batchGas: nothing, reorg: nothing },
      lease: null,
    });
    return { indexer, nodes };
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
      expect(nodes.states().map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
      expect((await storedBlock(database.read, 88))?.hash).to.equal(hashOf("main 88"));
    });
  });

  describe("given the nodes agree again when far more blocks are stored than may be ahead", () => {
    it("goes on", async () => {
      const stored = 60_000;
      for (const node of [await nodeOf(stored), await nodeOf(stored)]) node.head = stored + 50;
      await database.write((trx) => writeMeta(trx, "checkpoint", stored.toString()));
      await database.write((trx) => writeMeta(trx, "confirmed_block", "0"));
      await steps(open().indexer, 5);
      expect(await meta("confirmed_block")).to.equal(5_000);
    });
  });
});
