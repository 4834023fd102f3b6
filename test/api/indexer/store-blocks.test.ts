import { expect } from "chai";

import type { Block } from "../../../api/chain/client.ts";
import { adoptWallets } from "../../../api/commands/adopt-wallets.ts";
import type { TokenMove } from "../../../api/domain/token.ts";
import { attributeRange } from "../../../api/indexer/attribute-range.ts";
import { addNodeFacts } from "../../../api/indexer/node-facts.ts";
import type { ChainRange } from "../../../api/indexer/read-range.ts";
import { BlockWriter } from "../../../api/indexer/store-blocks.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "../support/blocks.ts";
import { follow } from "../support/follow.ts";
import { addApp, addCollection, APP, hashOf, randomAddress } from "../support/rows.ts";
import { indexerContext, RangeWriter } from "./support/context.ts";

const LAST = 20;
/** So many that the blocks are stored in several slices. */
const MOVES_OF_BLOCK = 100;

/** Blocks 1 to `LAST`, read while nothing was followed. */
function blocksWithMoves(): ChainRange {
  const numbers = Array.from({ length: LAST }, (_, index) => index + 1);
  const headers = new Map(
    numbers.map((number): [number, Block] => {
      const [hash, parentHash] = [hashOf(number.toString()), hashOf((number - 1).toString())];
      return [number, { number, hash, parentHash, timestamp: number, gasLimit: 1n }];
    }),
  );
  const token = { contract: randomAddress(), tokenId: "1", quantity: "1", from: randomAddress(), to: randomAddress() };
  const moves = numbers.flatMap((blockNumber) =>
    Array.from({ length: MOVES_OF_BLOCK }, (_, logIndex): TokenMove => {
      return { ...token, blockNumber, logIndex, subIndex: 0, transactionHash: hashOf("t") };
    }),
  );
  const indexed = { collections: new Map(), foreign: new Map(), foreignVersion: 0 };
  return {
    ...{ from: 1, to: LAST, head: LAST, remember: 0, indexed },
    headers,
    relay: [],
    created: [],
    moves,
    changes: [],
    foreign: [],
    flooding: new Set<string>(),
    unproven: null,
  };
}

describe("blocks that were read while apps began or ended to follow contracts", () => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await openTestDatabase();
    await startAtBlock(database, 0);
  });
  afterEach(() => database.remove());

  const checkpoint = async () => Number(await readMeta(database.read, "checkpoint"));

  /** Stores the blocks as often as they must be read again. */
  const readAgain = async (store: RangeWriter) => {
    for (let times = 0; times < 3; times++) {
      expect(await store.store(blocksWithMoves(), LAST)).to.equal(false);
      expect(await checkpoint()).to.equal(0);
    }
  };

  it("and were then stored without the logs of a contract, are before those in which it is followed", async () => {
    await addApp(database);
    const [early, late] = [await follow(database, { app: APP }), randomAddress()];
    await database.write((trx) => trx.updateTable("contract_follows").set({ followed_from: -5 }).execute());
    await follow(database, { app: APP, address: late });
    const store = new RangeWriter(indexerContext(database, { maxForeignMoves: 10_000 }));
    await readAgain(store);
    expect(await store.store(blocksWithMoves(), LAST)).to.equal(true);
    const follows = await database.read.selectFrom("contract_follows").select(["address", "followed_from"]).execute();
    expect(follows).to.have.deep.members([
      { address: early, followed_from: -5 },
      { address: late, followed_from: LAST },
    ]);
  });

  it("and before an app named an address as that of a user, are read again: the address has their history", async () => {
    await addApp(database);
    const contract = await addCollection(database);
    const [context, to] = [indexerContext(database), randomAddress()];
    const mint = { contract, tokenId: "1", quantity: "1", from: null, to, logIndex: 0, subIndex: 0 };
    const range = (foreignVersion: number): ChainRange => ({
      ...blocksWithMoves(),
      indexed: { collections: new Map([[contract, "ERC721"]]), foreign: new Map(), foreignVersion },
      moves: [{ ...mint, blockNumber: 1, transactionHash: hashOf("t") }],
    });
    const writer = new BlockWriter(context);
    const slice = await writer.cutNext(range(0));
    const { attributed, owners } = await attributeRange(context, slice);
    const complete = await addNodeFacts(context, slice, attributed, owners);
    const users = [{ user: "ann", address: to }];
    expect(await adoptWallets(database, context.contracts, APP, users)).to.deep.equal(["added"]);
    const final = { confirmed: LAST, failuresUpTo: Infinity, deep: LAST };
    expect(await writer.store(slice, complete, final)).to.equal(false);
    // What adds nothing makes nothing be read again.
    expect(await adoptWallets(database, context.contracts, APP, users)).to.deep.equal(["already_there"]);
    expect(await new RangeWriter(context).store(range(1), LAST)).to.equal(true);
    const history = await database.read.selectFrom("wallet_history").select("wallet").execute();
    expect(history).to.deep.equal([{ wallet: to }]);
  });
});
