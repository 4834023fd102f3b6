import { expect } from "chai";

import { ChainClient } from "../../../api/chain/client.ts";
import { Nodes } from "../../../api/chain/nodes.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { storedBlock } from "../../../api/store/ledger/blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "../support/blocks.ts";
import { randomContracts } from "../support/rows.ts";
import { createIndexer, FakeChain } from "./support/fake-chain.ts";

const CONFIRMATIONS = 5;
const BLOCKS_OF_QUERY = 10;

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
});
