import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { ReadAhead } from "../../../api/indexer/read-ahead.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { storedBlock } from "../../../api/store/ledger/blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "../support/blocks.ts";
import { randomContracts } from "../support/rows.ts";
import { createIndexer, FakeChain } from "./support/fake-chain.ts";

const CONFIRMATIONS = 5;
const BLOCKS_OF_QUERY = 10;

/** Nobody follows anything. */
const INDEXED = { collections: new Map<never, never>(), foreign: new Map<never, never>(), foreignVersion: 0 };

describe("blocks that the indexer has read ahead", () => {
  let database: TestDatabase;
  let chain: FakeChain;

  beforeEach(async () => {
    database = await openTestDatabase();
    await startAtBlock(database, 0);
    chain = await FakeChain.start("fork", 2 * BLOCKS_OF_QUERY);
  });
  afterEach(async () => {
    await chain.fake.stop();
    await database.remove();
  });

  const indexer = () => {
    const client = new ChainClient(
      new Nodes([chain.fake.url], {
        logQueries: {
          blocks: BLOCKS_OF_QUERY,
          addresses: 100,
          topicsAbove: 100,
        },
      }),
    );
    return createIndexer(database, client, { contracts: randomContracts(), confirmations: CONFIRMATIONS });
  };
  const meta = async (key: "checkpoint" | "confirmed_block") => Number(await readMeta(database.read, key));
  const wasRead = (hash: string) =>
    chain.fake.calls.some(({ method, params }) => method === "eth_getLogs" && JSON.stringify(params).includes(hash));

  it("are final only if they were deep enough when they were read", async () => {
    const follower = indexer();
    const step = () => follower.step();
    await step();
    expect(await meta("checkpoint")).to.equal(BLOCKS_OF_QUERY);
    const readUpTo = chain.head;
    const last = chain.hashAt(chain.head);
    await eventually(() => Promise.resolve(wasRead(last) ? true : undefined));
    // The chain grows, and drops blocks that were read and not stored yet.
    [chain.head, chain.fork] = [readUpTo + BLOCKS_OF_QUERY, readUpTo - 1];
    await step();
    expect(await meta("checkpoint")).to.equal(readUpTo);
    expect(await meta("confirmed_block")).to.equal(readUpTo - CONFIRMATIONS + 1);
    while (await step());
    expect(await meta("checkpoint")).to.equal(chain.head);
    expect((await storedBlock(database.read, readUpTo))?.hash).to.equal(chain.hashAt(readUpTo));
  });

  it("are not stored if a reorg has dropped the first of them", async () => {
    const follower = indexer();
    await follower.step();
    const [first, last] = [BLOCKS_OF_QUERY + 1, chain.hashAt(chain.head)];
    await eventually(() => Promise.resolve(wasRead(last) ? true : undefined));
    chain.fork = first;
    expect(await follower.step()).to.equal(true);
    expect(await storedBlock(database.read, first)).to.equal(undefined);
    while (await follower.step());
    expect((await storedBlock(database.read, first))?.hash).to.equal(chain.hashAt(first));
  });

  it("are read again from the node that is read now", async () => {
    const logQueries = { blocks: BLOCKS_OF_QUERY, addresses: 100, topicsAbove: 100 };
    const nodes = new Nodes([chain.fake.url, chain.fake.url], { logQueries });
    const contracts = randomContracts();
    const ahead = new ReadAhead({
      client: new ChainClient(nodes),
      contracts: () => Promise.resolve(contracts),
      indexed: () => Promise.resolve(INDEXED),
      receipts: null,
    });
    const queries = () => chain.fake.calls.filter(({ method }) => method === "eth_getLogs").length;
    const from = (block: number) => ({ from: block, head: chain.head, remember: 0, first: null });
    try {
      for (const node of [1, 2]) {
        nodes.agree();
        await nodes.session(async () => {
          ahead.begin(await ahead.take(from(1)), from(1));
          await ahead.idle();
        });
        const before = queries();
        // The first node is not read any more.
        if (node === 2) nodes.differ([1], 1);
        const { to } = await nodes.session(() => ahead.take(from(BLOCKS_OF_QUERY + 1)));
        expect([to, queries() > before]).to.deep.equal([chain.head, node === 2]);
      }
    } finally {
      nodes.stop();
    }
  });
});
