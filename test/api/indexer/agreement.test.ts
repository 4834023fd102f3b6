import { expect } from "chai";
import { id } from "ethers";
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
import { addApp, hashOf, randomAddress, randomContracts } from "../support/rows.ts";

const CONFIRMATIONS = 3;
const TRANSFER = id("Transfer(address,address,uint256)");

interface LogQuery {
  address?: string[];
  fromBlock?: string;
  toBlock?: string;
  blockHash?: string;
}

/** A node, and the block from which on its chain is its own. */
interface Branch {
  head: number;
  fork: number;
  /** Its logs: the contract by block, one in each. */
  logs: Map<number, string>;
  /** It refuses queries for the logs of this contract, because there are too many. */
  floods: string | null;
  fake: FakeRpc;
}

describe("Agreement", () => {
  let database: TestDatabase;
  let branches: Branch[] = [];
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

  const hex = (number: number) => `0x${number.toString(16)}`;
  const nodeOf = async (head: number): Promise<Branch> => {
    const name = branches.length.toString();
    const hashAt = (number: number) => hashOf(`${number >= branch.fork ? name : "main"} ${number.toString()}`);
    const fake = await startFakeRpc(({ method, params }) => {
      if (method === "eth_blockNumber") return hex(branch.head);
      if (method === "eth_getLogs") return logsOf(branch, params[0] as LogQuery, hashAt);
      const number = Number(params[0]);
      const block = { number: hex(number), hash: hashAt(number), parentHash: hashAt(number - 1) };
      return number > branch.head ? null : { ...block, timestamp: "0x1", gasLimit: "0x1" };
    });
    const branch: Branch = { head, fork: Infinity, logs: new Map(), floods: null, fake };
    branches.push(branch);
    return branch;
  };
  const logsOf = (
    { logs, floods }: Branch,
    { address = [], fromBlock, toBlock, blockHash }: LogQuery,
    hashAt: (number: number) => string,
  ) => {
    if (floods !== null && address.includes(floods))
      return { error: { code: -32005, message: "query returned more than 10000 results" } };
    return [...logs]
      .filter(([, contract]) => address.includes(contract))
      .filter(([block]) =>
        blockHash === undefined ? block >= Number(fromBlock) && block <= Number(toBlock) : blockHash === hashAt(block),
      )
      .map(([block, contract]) => ({
        address: contract,
        topics: [TRANSFER, ...[1, 2, 3].map((topic) => hashOf(topic.toString()))],
        data: "0x",
        blockNumber: hex(block),
        blockHash: hashAt(block),
        transactionHash: hashOf("a transaction"),
        logIndex: "0x0",
      }));
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
      contracts,
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
  /** A contract of others that an app follows. */
  const followed = async (): Promise<string> => {
    const [app, address] = [await addApp(database), randomAddress()];
    const row = { address, type: "ERC721", name: null, reason: null, as_of: null, failures: 0 } as const;
    const rest = { quarantines: 0, released_at: null, window_from: 0, window_logs: 0, created_at: 1 };
    const follow = { app_id: app, address, followed_from: 0, ended_at: null, created_at: 1 };
    await database.write(async (trx) => {
      await trx
        .insertInto("foreign_contracts")
        .values({ ...row, ...rest, state: "followed", due_at: null })
        .execute();
      await trx.insertInto("contract_follows").values(follow).execute();
    });
    return address;
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
      const floods = await followed();
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
