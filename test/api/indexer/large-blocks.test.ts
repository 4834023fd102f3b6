import { AbiCoder, toBeHex, zeroPadValue } from "ethers";
import { expect } from "chai";

import type { Block } from "../../../api/chain/client.ts";
import { MOVE_TOPICS } from "../../../api/chain/codec/decode.ts";
import type { RawLog } from "../../../api/chain/query-logs.ts";
import type { TokenMove } from "../../../api/domain/token.ts";
import type { ChainRange } from "../../../api/indexer/read-range.ts";
import { removeHiddenHistory } from "../../../api/indexer/store-blocks.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { MOST_DELETED, rollback, rollbackStep } from "../../../api/store/ledger/rollback.ts";
import { hiddenFrom } from "../../../api/store/ledger/hidden-history.ts";
import { readIndexedContracts } from "../../../api/store/ledger/indexed-contracts.ts";
import { listTokenHistory, listWalletHistory } from "../../../api/store/listings/history.ts";
import type { TestDatabase } from "../../support/database.ts";
import { contents, countedTotals } from "../support/contents.ts";
import { addWalletRow, follow } from "../support/follow.ts";
import { openLedger, useLedger } from "../support/ledger.ts";
import { addCollection, APP, hashOf, randomAddress } from "../support/rows.ts";
import { indexerContext, RangeWriter } from "./support/context.ts";

class Crash extends Error {}

interface Options {
  /** Moves of one commit. */
  size?: number;
  /** The process ends after so many commits that are too small to end a block. */
  crashAfter?: number;
  /** Most moves of a foreign contract. */
  limit?: number;
}

function writerInto(
  database: TestDatabase,
  { size = 1_000, crashAfter = Infinity, limit = 100 }: Options,
): RangeWriter {
  let commits = 0;
  const sliceSize = {
    value: size,
    took: () => {
      if (++commits === crashAfter) throw new Crash();
    },
  };
  return new RangeWriter(indexerContext(database, { maxForeignMoves: limit, sliceSize, largestHistory: 0 }));
}

type Move = Pick<TokenMove, "tokenId" | "from" | "to"> & { quantity?: string };

/** Block `number` of a chain, read. Nothing follows it that is final. */
async function blockOf(
  database: TestDatabase,
  number: number,
  {
    contract = "",
    moves = [],
    foreign = [],
    fork = "",
  }: Partial<{
    contract: string;
    moves: Move[];
    foreign: RawLog[];
    fork: string;
  }>,
): Promise<ChainRange> {
  const hash = hashOf(`${number.toString()}${fork}`);
  const header: Block = {
    ...{ number, hash, parentHash: hashOf((number - 1).toString()) },
    ...{ timestamp: number, gasLimit: 1n },
  };
  return {
    ...{ from: number, to: number, head: number + 9, remember: 0 },
    indexed: await readIndexedContracts(database.read),
    headers: new Map([[number, header]]),
    ...{ relay: [], created: [], changes: [], foreign, flooding: new Set<string>(), unproven: null },
    moves: moves.map((move, logIndex): TokenMove => {
      const place = { blockNumber: number, logIndex, subIndex: 0, transactionHash: hashOf("t") };
      return { contract, quantity: "1", ...move, ...place };
    }),
  };
}

/** A collection, two wallets, and two blocks: the first creates ids, the second moves them in every way. */
async function prepared(database: TestDatabase) {
  const contract = await addCollection(database, { type: "ERC1155" });
  const [alice, bob] = [await addWalletRow(database, APP), await addWalletRow(database, APP)];
  const ids = Array.from({ length: 9 }, (_, index) => (index + 1).toString());
  const created = ids.map((tokenId): Move => ({ tokenId, from: null, to: alice, quantity: "5" }));
  const moved = ids.flatMap((tokenId, index): Move[] => [
    { tokenId, from: alice, to: alice, quantity: "5" },
    { tokenId, from: alice, to: bob, quantity: (index % 3) + 3 === 5 ? "5" : "2" },
    ...(index % 2 === 0 ? [{ tokenId, from: bob, to: alice, quantity: "1" }] : []),
    { tokenId, from: bob, to: null },
    { tokenId: `9${tokenId}`, from: null, to: randomAddress() },
  ]);
  return { contract, alice, bob, created, moved };
}

type Prepared = Awaited<ReturnType<typeof prepared>>;

/** What two databases with the same blocks have in common: row numbers and owners may differ. */
async function stored(database: TestDatabase) {
  const { transfers, history, collections, ...rest } = await contents(database);
  const places = new Map(transfers.map(({ id }, index) => [id, index]));
  return {
    ...rest,
    collections: collections.map(({ owner: _owner, ...row }) => row),
    transfers: transfers.map(({ id: _id, ...row }) => row),
    history: history.map(({ wallet, transfer_id: id }) => ({ wallet, place: places.get(id) })),
    hidden: await hiddenFrom(database.read),
  };
}

describe("a block with more history than one commit stores", () => {
  const database = useLedger();
  const page = { limit: 100, offset: 0, after: null };

  const listed = async ({ contract, alice }: Prepared) => [
    await listWalletHistory(database.read, APP, alice, page),
    await listTokenHistory(database.read, APP, { contract, tokenId: "1" }, page),
    await listTokenHistory(database.read, APP, { contract, tokenId: "91" }, page),
  ];
  /** Stores the first block, and ends the process in the second. @returns what listings showed before and show after. */
  const crash = async (crashAfter: number) => {
    const chain = await prepared(database);
    const { contract, created, moved } = chain;
    await writerInto(database, {}).store(await blockOf(database, 1, { contract, moves: created }), 0);
    const before = await listed(chain);
    const writer = writerInto(database, { size: 7, crashAfter });
    const second = await blockOf(database, 2, { contract, moves: moved });
    expect(await writer.store(second, 0).catch((error: unknown) => error)).to.be.instanceOf(Crash);
    expect(await readMeta(database.read, "checkpoint")).to.equal("1");
    return { ...chain, before, second };
  };
  /** The same blocks in a database of their own, each in one commit. */
  const whole = async ({ contract, alice, bob, created }: Prepared, moves: Move[], fork = "") => {
    const own = await openLedger();
    try {
      await addCollection(own, { type: "ERC1155" });
      await own.write((trx) => trx.updateTable("collections").set({ address: contract }).execute());
      for (const wallet of [alice, bob]) await addWalletRow(own, APP, wallet);
      for (const [index, block] of [created, moves].entries()) {
        const read = await blockOf(own, index + 1, { contract, moves: block, fork: index === 1 ? fork : "" });
        expect(await writerInto(own, {}).store(read, 0)).to.equal(true);
      }
      return await stored(own);
    } finally {
      await own.remove();
    }
  };

  for (const size of [1, 7, 40]) {
    it(`is stored in parts of ${size.toString()} moves as in one commit`, async () => {
      const chain = await prepared(database);
      const { contract, created, moved } = chain;
      for (const [index, moves] of [created, moved].entries()) {
        const read = await blockOf(database, index + 1, { contract, moves });
        expect(await writerInto(database, { size }).store(read, 0)).to.equal(true);
      }
      expect(await stored(database)).to.deep.equal(await whole(chain, moved));
      expect(await countedTotals(database)).to.deep.equal([]);
    });
  }

  for (const crashAfter of [1, 2, 6]) {
    it(`shows nothing of itself when the process ends after part ${crashAfter.toString()}, and is stored again`, async () => {
      const chain = await crash(crashAfter);
      expect(await database.read.selectFrom("transfers").select("id").execute()).to.have.lengthOf(
        chain.created.length + Math.min(7 * crashAfter, chain.moved.length),
      );
      expect(await listed(chain)).to.deep.equal(chain.before);
      expect(await writerInto(database, { size: 5 }).store(chain.second, 0)).to.equal(true);
      expect(await stored(database)).to.deep.equal(await whole(chain, chain.moved));
    });
  }

  it("leaves nothing behind when a reorg drops it between two parts", async () => {
    const chain = await crash(2);
    const { contract } = chain;
    const other = chain.moved.slice(3, 5).concat({ tokenId: "2", from: chain.alice, to: chain.bob });
    const moves = other.filter(({ from }) => from !== chain.bob);
    const read = await blockOf(database, 2, { contract, moves, fork: "other" });
    expect(await writerInto(database, {}).store(read, 0)).to.equal(true);
    expect(await stored(database)).to.deep.equal(await whole(chain, moves, "other"));
    expect(await countedTotals(database)).to.deep.equal([]);
  });

  it("is refused to a process whose parts another one has removed", async () => {
    const { contract, created } = await prepared(database);
    const read = await blockOf(database, 1, { contract, moves: created });
    const other = writerInto(database, { size: 2 });
    let parts = 0;
    const writer = writerInto(
      {
        ...database,
        write: async (operation) => {
          // The other process stores the block before the third part.
          if (++parts === 3) await other.store(read, 0);
          return database.write(operation);
        },
      },
      { size: 2 },
    );
    expect(await writer.store(read, 0)).to.equal(false);
    expect(await countedTotals(database)).to.deep.equal([]);
    expect(await readMeta(database.read, "checkpoint")).to.equal("1");
  });

  it("is rolled back in several commits, and the blocks beside it in steps", async () => {
    const chain = await prepared(database);
    const { contract, created, alice } = chain;
    const many = Array.from({ length: MOST_DELETED + 1 }, (): Move => ({ tokenId: "1", from: alice, to: alice }));
    const writer = writerInto(database, {});
    await writer.store(await blockOf(database, 1, { contract, moves: created }), 0);
    const before = await stored(database);
    const shown = await listed(chain);
    await writer.store(await blockOf(database, 2, { contract, moves: many }), 0);
    await writer.store(await blockOf(database, 3, { contract, moves: created.map((move) => ({ ...move })) }), 0);
    expect(await rollbackStep(database.read, 0, 3)).to.equal(2);
    await database.write((trx) => rollback(trx, 2));
    expect(await rollbackStep(database.read, 0, 2)).to.equal(1);
    await database.write((trx) => rollback(trx, 1));
    expect(await rollbackStep(database.read, 0, 1)).to.equal(0);
    expect(await listed(chain)).to.deep.equal(shown);
    await removeHiddenHistory(database);
    expect(await stored(database)).to.deep.equal(before);
    expect(await countedTotals(database)).to.deep.equal([]);
  });
});

describe("a followed contract with more moves than MAX_FOREIGN_LOGS", () => {
  const database = useLedger();
  const topic = (address: string) => zeroPadValue(address, 32);
  const LIMIT = 100;

  /** A batch of so many moves of distinct ids to a wallet. */
  const batch = (address: string, to: string, moves: number, logIndex = 0, blockNumber = 1): RawLog => {
    const ids = Array.from({ length: moves }, (_, index) => index);
    return {
      address,
      topics: [MOVE_TOPICS[2] ?? "", ...[randomAddress(), randomAddress(), to].map(topic)],
      data: AbiCoder.defaultAbiCoder().encode(["uint256[]", "uint256[]"], [ids, ids.map(() => 1)]),
      ...{ blockNumber, blockHash: hashOf(blockNumber.toString()), transactionHash: hashOf("t"), logIndex },
    };
  };
  const followed = () => follow(database, { app: APP, type: "ERC1155" });
  const store = async (number: number, foreign: RawLog[]) =>
    expect(
      await writerInto(database, { limit: LIMIT }).store(await blockOf(database, number, { foreign }), 0),
    ).to.equal(true);
  const rowsOf = async (contract: string) =>
    (await database.read.selectFrom("transfers").select("id").where("contract", "=", contract).execute()).length;
  const stateOf = async (address: string) =>
    (await database.read.selectFrom("foreign_contracts").selectAll().where("address", "=", address).execute())[0];

  for (const [where, sizes] of [
    ["one log", [LIMIT + 1]],
    ["several logs of a block", [60, 41]],
  ] as const) {
    it(`is quarantined in the commit of ${where}, and nothing of it is stored`, async () => {
      const [flooding, calm, wallet] = [await followed(), await followed(), await addWalletRow(database, APP)];
      await store(1, [...sizes.map((size, index) => batch(flooding, wallet, size, index)), batch(calm, wallet, 3, 7)]);
      expect(await stateOf(flooding)).to.include({ state: "quarantined", reason: "flood", as_of: 0 });
      expect([await rowsOf(flooding), await rowsOf(calm)]).to.deep.equal([0, 3]);
      expect(await stateOf(calm)).to.include({ state: "followed", window_logs: 3 });
    });
  }

  it("is quarantined with the block that exceeds it, together with those before", async () => {
    const [contract, wallet] = [await followed(), await addWalletRow(database, APP)];
    await store(1, [batch(contract, wallet, 60)]);
    await store(2, [batch(contract, wallet, 40, 0, 2)]);
    expect(await stateOf(contract)).to.include({ state: "followed" });
    await store(3, [batch(contract, wallet, 1, 0, 3)]);
    expect(await stateOf(contract)).to.include({ state: "quarantined", as_of: 2 });
    expect(await rowsOf(contract)).to.equal(100);
  });

  it("counts data that are no moves as well", async () => {
    const [contract, wallet] = [await followed(), await addWalletRow(database, APP)];
    const log = batch(contract, wallet, 1);
    await store(1, [{ ...log, data: `0x${"00".repeat(64 * (LIMIT + 3))}` }]);
    expect(await stateOf(contract)).to.include({ state: "quarantined" });
  });

  it("is quarantined when several contracts are above what one commit stores, the largest first", async () => {
    const wallet = await addWalletRow(database, APP);
    const contracts = [await followed(), await followed(), await followed()];
    const logs = contracts.map((contract, index) => batch(contract, wallet, 4_000 + index, index));
    const writer = writerInto(database, { limit: 9_000 });
    expect(await writer.store(await blockOf(database, 1, { foreign: logs }), 0)).to.equal(true);
    const states = await Promise.all(contracts.map(async (contract) => (await stateOf(contract))?.state));
    expect(states).to.deep.equal(["followed", "followed", "quarantined"]);
    expect(await Promise.all(contracts.map(rowsOf))).to.deep.equal([4_000, 4_001, 0]);
  });

  it("stores the sum of a lying contract, however large", async () => {
    const [contract, wallet] = [await followed(), await addWalletRow(database, APP)];
    const most = 2n ** 256n - 1n;
    const log = batch(contract, wallet, 1);
    const data = AbiCoder.defaultAbiCoder().encode(
      ["uint256[]", "uint256[]"],
      [
        [7, 7],
        [most, most],
      ],
    );
    await store(1, [{ ...log, data }]);
    const rows = await database.read.selectFrom("transfers").select(["token_id", "quantity"]).execute();
    expect(rows).to.deep.equal([{ token_id: BigInt(toBeHex(7)).toString(), quantity: (2n * most).toString() }]);
  });
});
