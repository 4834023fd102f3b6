import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import type { Indexer } from "../../../api/indexer/indexer.ts";
import { type MetaKey, readMeta, writeMeta } from "../../../api/store/db/meta.ts";
import { storedBlock } from "../../../api/store/ledger/blocks.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "../support/blocks.ts";
import { follow } from "../support/follow.ts";
import { addApp, hashOf, randomContracts } from "../support/rows.ts";
import { createIndexer, FakeChain } from "./support/fake-chain.ts";

const CONFIRMATIONS = 3;

describe("Agreement", () => {
  let database: TestDatabase;
  let branches: FakeChain[] = [];
  let nodes: Nodes | null = null;
  const contracts = randomContracts();

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

  const nodeOf = async (head: number): Promise<FakeChain> => {
    const branch = await FakeChain.start(branches.length.toString(), head);
    branches.push(branch);
    return branch;
  };
  const open = (): { indexer: Indexer; nodes: Nodes } => {
    const nothing = () => undefined;
    nodes = new Nodes(
      branches.map(({ fake }) => fake.url),
      { readOnly: [], floor: () => meta("checkpoint"), logger: { warn: nothing, info: nothing } },
    );
    const client = new ChainClient(nodes, { blocks: 1_000, addresses: 100, topicsAbove: 100 });
    return { indexer: createIndexer(database, client, { contracts, confirmations: CONFIRMATIONS }), nodes };
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

  describe("given three nodes, of which the first forgets a log, and a followed contract with too many logs for the third", () => {
    it("goes on without the first", async () => {
      const [first, second, third] = [await nodeOf(60), await nodeOf(60), await nodeOf(60)];
      // A contract of others.
      const floods = await follow(database, { app: await addApp(database) });
      const { indexer, nodes } = open();
      await steps(indexer);
      third.floods = floods;
      for (const { logs } of [second, third]) logs.set(70, contracts.relay);
      for (const { logs } of [first, second, third]) logs.set(71, floods);
      for (const branch of branches) branch.head = 90;
      await steps(indexer);
      expect(nodes.states().map(({ word }) => word)).to.deep.equal(["disagrees", "up", "up"]);
      expect(await meta("confirmed_block")).to.equal(88);
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
