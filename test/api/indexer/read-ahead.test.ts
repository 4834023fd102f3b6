import { expect } from "chai";
import pino from "pino";

import { ChainClient } from "../../../api/chain/client.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { Indexer } from "../../../api/indexer/indexer.ts";
import { createSignals } from "../../../api/shared/signal.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { storedBlock } from "../../../api/store/ledger/blocks.ts";
import { eventually } from "../../support/eventually.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";
import { startAtBlock } from "../support/blocks.ts";
import { hashOf, randomContracts } from "../support/rows.ts";

const CONFIRMATIONS = 5;
const BLOCKS_OF_QUERY = 10;

describe("blocks that the indexer has read ahead", () => {
  let database: TestDatabase;
  let node: FakeRpc;
  let [head, fork] = [0, 0];

  const hashAt = (number: number) => hashOf(`${fork > 0 && number >= fork ? "fork" : "main"} ${number.toString()}`);
  const hex = (number: number) => `0x${number.toString(16)}`;

  beforeEach(async () => {
    database = await openTestDatabase();
    await startAtBlock(database, 0);
    [head, fork] = [2 * BLOCKS_OF_QUERY, 0];
    node = await startFakeRpc(({ method, params }) => {
      if (method === "eth_blockNumber") return hex(head);
      if (method === "eth_getLogs") return [];
      const number = Number(params[0]);
      const block = { number: hex(number), hash: hashAt(number), parentHash: hashAt(number - 1) };
      return number > head ? null : { ...block, timestamp: "0x1", gasLimit: "0x1" };
    });
  });
  afterEach(async () => {
    await node.stop();
    await database.remove();
  });

  const indexer = () => {
    const sizes = { blocks: BLOCKS_OF_QUERY, addresses: 100, topicsAbove: 100 };
    const nothing = () => undefined;
    return new Indexer({
      database,
      client: new ChainClient(new Rpc(node.url), sizes),
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
  };
  const meta = async (key: "checkpoint" | "confirmed_block") => Number(await readMeta(database.read, key));
  const wasRead = (hash: string) =>
    node.calls.some(({ method, params }) => method === "eth_getLogs" && JSON.stringify(params).includes(hash));

  it("are final only if they were deep enough when they were read", async () => {
    const follower = indexer();
    const step = () => follower.step();
    await step();
    expect(await meta("checkpoint")).to.equal(BLOCKS_OF_QUERY);
    const readUpTo = head;
    const last = hashAt(head);
    await eventually(() => Promise.resolve(wasRead(last) ? true : undefined));
    // The chain grows, and drops blocks that were read and not stored yet.
    [head, fork] = [readUpTo + BLOCKS_OF_QUERY, readUpTo - 1];
    await step();
    expect(await meta("checkpoint")).to.equal(readUpTo);
    expect(await meta("confirmed_block")).to.equal(readUpTo - CONFIRMATIONS + 1);
    while (await step());
    expect(await meta("checkpoint")).to.equal(head);
    expect((await storedBlock(database.read, readUpTo))?.hash).to.equal(hashAt(readUpTo));
  });

  it("are not stored if a reorg has dropped the first of them", async () => {
    const follower = indexer();
    await follower.step();
    const [first, last] = [BLOCKS_OF_QUERY + 1, hashAt(head)];
    await eventually(() => Promise.resolve(wasRead(last) ? true : undefined));
    fork = first;
    expect(await follower.step()).to.equal(true);
    expect(await storedBlock(database.read, first)).to.equal(undefined);
    while (await follower.step());
    expect((await storedBlock(database.read, first))?.hash).to.equal(hashAt(first));
  });
});
