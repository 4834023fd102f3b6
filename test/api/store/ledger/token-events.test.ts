import { expect } from "chai";

import { NAMED_EVENTS } from "../../../../api/domain/events.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { lacksTokenEvents, makeTokenEvents, skipTokenEvents } from "../../../../api/store/ledger/token-events.ts";
import type { StoredMove } from "../../../../api/store/ledger/history.ts";
import { eventsAfter } from "../../../../api/store/outbox/feed.ts";
import { apply } from "../../support/blocks.ts";
import { addWalletRow } from "../../support/follow.ts";
import { useLedger } from "../../support/ledger.ts";
import { addCollection, APP, entryOf, randomAddress } from "../../support/rows.ts";

/** Movements by strangers that become events, in 500 blocks. */
const MOST = 3;

describe("makeTokenEvents", () => {
  const database = useLedger();
  let collection: string;
  let wallet: string;

  beforeEach(async () => {
    collection = await addCollection(database, { type: "ERC1155" });
    wallet = await addWalletRow(database, APP);
    await database.write((trx) => writeMeta(trx, "token_events_to", "0"));
    await store(1, [{ from: null, to: wallet, tokenId: "1", quantity: "1000000" }]);
  });

  type Move = Partial<StoredMove> & Pick<StoredMove, "from" | "to">;

  /** Stores a block with movements. All blocks up to it are final, by default. @returns whether there are more events. */
  async function store(block: number, moves: readonly Move[], confirmed = block): Promise<boolean> {
    const entries = moves.map((move, index) =>
      entryOf("ERC1155", {
        ...{ contract: collection, tokenId: "1", blockNumber: block, logIndex: index, ...move },
      }),
    );
    const wallets = new Set([wallet]);
    await database.write((trx) => writeMeta(trx, "checkpoint", (block - 1).toString()));
    expect(await apply(database, { block, entries, wallets, confirmed })).to.equal(true);
    return make();
  }
  const make = (deep = 0) =>
    database.write((trx) => makeTokenEvents(trx, { deep, mostStrangers: MOST }, 1_700_000_000_000));

  const events = async () =>
    (await eventsAfter(database.read, { appId: APP, after: 0, types: NAMED_EVENTS }, 10_000)).map(({ body }) => body);
  /** What a reader sees after the first event: the block of each movement, and the blocks of gaps. */
  const told = async () =>
    (await events()).slice(1).map((event) => {
      if (event.type === "gap") return `gap ${event.from_block.toString()}-${event.to_block.toString()}`;
      return `${event.type} ${event.block_number?.toString() ?? ""}`;
    });
  const stranger = (count = 1): Move[] =>
    Array.from({ length: count }, () => ({ from: randomAddress(), to: null, quantity: "0" }));

  describe("given more movements by strangers than an app gets events of", () => {
    it("leaves them out, not those of wallets, and names their blocks once the window is over", async () => {
      await store(2, stranger(2));
      await store(3, stranger(2));
      await store(4, [...stranger(1), { from: wallet, to: randomAddress() }]);
      await store(5, [{ from: wallet, to: wallet }]);
      const before = ["token.burned 2", "token.burned 2", "token.burned 3", "token.sent 4", "token.sent 5"];
      expect(await told()).to.deep.equal(before);
      await store(498, []);
      expect(await told()).to.deep.equal(before);
      await store(499, []);
      expect(await told()).to.deep.equal([...before, "gap 3-4"]);
      await store(500, stranger(1));
      expect(await told()).to.deep.equal([...before, "gap 3-4", "token.burned 500"]);
    });

    it("names them with the next movement when no block ends the window", async () => {
      await store(2, stranger(5));
      await store(700, stranger(1));
      const three = ["token.burned 2", "token.burned 2", "token.burned 2"];
      expect(await told()).to.deep.equal([...three, "token.burned 700", "gap 2-2"]);
    });

    it("forgets a gap in blocks that are rolled back", async () => {
      await store(2, stranger(3));
      await store(3, stranger(2));
      await database.write((trx) => rollback(trx, 2));
      await store(499, [], 499);
      await store(500, stranger(1));
      const three = ["token.burned 2", "token.burned 2", "token.burned 2"];
      expect(await told()).to.deep.equal([...three, "token.burned 500"]);
    });
  });

  it("waits until a block is final, and makes each event once", async () => {
    await store(2, [{ from: wallet, to: randomAddress() }], 1);
    expect(await told()).to.deep.equal([]);
    expect(await lacksTokenEvents(database.read)).to.equal(false);
    await database.write((trx) => writeMeta(trx, "confirmed_block", "2"));
    expect(await lacksTokenEvents(database.read)).to.equal(true);
    await make();
    await make();
    expect(await told()).to.deep.equal(["token.sent 2"]);
  });

  it("makes the events of a large block in several commits, each once and in order, also after one that failed", async () => {
    const sent = { from: wallet, to: randomAddress() };
    const moves = Array.from({ length: 4_500 }, (_, index) => ({
      ...sent,
      logIndex: Math.floor(index / 3),
      subIndex: index % 3,
    }));
    expect(await store(2, moves)).to.equal(true);
    const failed = database.write(async (trx) => {
      await makeTokenEvents(trx, { deep: 0, mostStrangers: MOST }, 1);
      throw new Error("the process ends here");
    });
    await failed.catch(() => undefined);
    expect(await lacksTokenEvents(database.read)).to.equal(true);
    expect([await make(), await make()]).to.deep.equal([true, false]);
    const places = (await events())
      .slice(1)
      .map((event) => "log_index" in event && event.log_index * 3 + event.batch_index);
    expect(places).to.deep.equal(moves.map((_, index) => index));
  });

  describe("given a rollback below blocks whose events were made", () => {
    it("corrects each event once, step by step, and makes those of the new blocks", async () => {
      for (const block of [2, 3, 4]) await store(block, [{ from: wallet, to: randomAddress() }]);
      await database.write((trx) => rollback(trx, 3));
      await database.write((trx) => rollback(trx, 1));
      await store(2, [{ from: randomAddress(), to: wallet, quantity: "0" }]);
      const sent = ["token.sent 2", "token.sent 3", "token.sent 4"];
      const corrected = ["corrected 4", "corrected 3", "corrected 2"];
      expect(await told()).to.deep.equal([...sent, ...corrected, "token.received 2"]);
    });
  });

  describe("given a database that reads blocks again, after a restore", () => {
    beforeEach(() => store(2, [{ from: wallet, to: randomAddress() }]));

    it("makes no second events of blocks that it rolls back and reads again, and corrects none meanwhile", async () => {
      await database.write(skipTokenEvents);
      await database.write((trx) => rollback(trx, 1));
      await store(2, [{ from: wallet, to: randomAddress() }]);
      await store(3, [{ from: wallet, to: randomAddress() }]);
      expect(await told()).to.deep.equal(["token.sent 2", "token.sent 3"]);
    });

    it("makes one gap of all blocks up to the newest that is deep enough then, for apps with movements in them", async () => {
      await database.write(skipTokenEvents);
      await make(2_000);
      await store(3, stranger(MOST + 1));
      await store(4, [{ from: wallet, to: randomAddress() }]);
      await store(1_990, [{ from: wallet, to: randomAddress() }]);
      await store(1_999, []);
      expect(await told()).to.deep.equal(["token.sent 2"]);
      await store(2_001, [{ from: wallet, to: randomAddress() }]);
      expect(await told()).to.deep.equal(["token.sent 2", "token.sent 2001", "gap 3-1990"]);
      await store(2_600, []);
      const others = await database.read.selectFrom("events").select("app_id").where("app_id", "<>", APP).execute();
      expect(others).to.deep.equal([]);
      expect(await told()).to.have.length(3);
    });

    it("makes no gap when no movement lacks its event", async () => {
      await database.write(skipTokenEvents);
      await make(4);
      await store(4, []);
      await store(5, [{ from: wallet, to: randomAddress() }]);
      expect(await told()).to.deep.equal(["token.sent 2", "token.sent 5"]);
    });

    it("makes one gap also when the movements need several commits", async () => {
      await database.write(skipTokenEvents);
      await make(3);
      const sent = { from: wallet, to: randomAddress() };
      expect(
        await store(
          3,
          Array.from({ length: 4_500 }, () => sent),
        ),
      ).to.equal(true);
      expect([await make(), await make()]).to.deep.equal([true, false]);
      expect(await told()).to.deep.equal(["token.sent 2", "gap 3-3"]);
    });
  });
});
