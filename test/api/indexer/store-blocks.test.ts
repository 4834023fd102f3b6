import { expect } from "chai";

import type { Block } from "../../../api/chain/client.ts";
import type { TokenMove } from "../../../api/domain/token.ts";
import type { ChainRange } from "../../../api/indexer/read-range.ts";
import { readMeta } from "../../../api/store/db/meta.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { startAtBlock } from "../support/blocks.ts";
import { follow } from "../support/follow.ts";
import { addApp, APP, hashOf, randomAddress } from "../support/rows.ts";
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
});
