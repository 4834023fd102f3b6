import { expect } from "chai";

import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import { followForeignContract, forgetForeign } from "../../../../api/store/ledger/foreign.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { followsMore, WatchedCache } from "../../../../api/store/ledger/watched.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { startAtBlock } from "../../support/blocks.ts";
import { addApp, addCollection, randomAddress } from "../../support/rows.ts";

describe("WatchedCache", () => {
  let database: TestDatabase;
  let cache: WatchedCache;

  beforeEach(async () => {
    database = await openTestDatabase();
    await addApp(database);
    cache = new WatchedCache();
  });
  afterEach(() => database.remove());

  const read = () => cache.read(database.read);
  const collections = async () => [...(await read()).collections.keys()];
  const follow = async (followedFrom = 0) => {
    const address = randomAddress();
    await database.write((trx) => followForeignContract(trx, { address, type: "ERC721", name: null, followedFrom }));
    return address;
  };

  it("reads only the collections that were added since the last read", async () => {
    const first = await addCollection(database);
    await read();
    // A row that is read again would show this change.
    await database.write((trx) => trx.updateTable("collections").set({ address: randomAddress() }).execute());
    const second = await addCollection(database);
    expect(await collections()).to.deep.equal([first, second]);
  });

  it("forgets collections that a reorg removed", async () => {
    const first = await addCollection(database);
    const second = await addCollection(database);
    expect(await collections()).to.deep.equal([first, second]);
    await startAtBlock(database, 20);
    await database.write(async (trx) => {
      await trx.updateTable("collections").set({ block_number: 15, listed: 0 }).where("address", "=", second).execute();
      await rollback(trx, 14);
    });
    expect(await collections()).to.deep.equal([first]);
  });

  it("reads foreign contracts again when one was added or removed, and only then", async () => {
    const first = await follow();
    const { foreign } = await read();
    expect([...foreign.keys()]).to.deep.equal([first]);
    await database.write((trx) =>
      followForeignContract(trx, { address: first, type: "ERC721", name: null, followedFrom: 3 }),
    );
    expect((await read()).foreign).to.equal(foreign);
    const second = await follow();
    expect([...(await read()).foreign.keys()]).to.have.members([first, second]);
    await database.write((trx) => forgetForeign(trx, first, new CounterDeltas()));
    expect([...(await read()).foreign.keys()]).to.deep.equal([second]);
  });

  it("reads again from which block a contract is followed after a reorg", async () => {
    await startAtBlock(database, 20);
    const contract = await follow(20);
    expect((await read()).foreign.get(contract)?.followedFrom).to.equal(20);
    await database.write((trx) => rollback(trx, 14));
    expect((await read()).foreign.get(contract)?.followedFrom).to.equal(14);
  });

  it("tells when a contract was added whose earlier logs are needed", async () => {
    const watched = await read();
    expect(await followsMore(database.read, watched, 10)).to.equal(false);
    await follow(10);
    expect(await followsMore(database.read, watched, 10)).to.equal(false);
    await follow(9);
    expect(await followsMore(database.read, watched, 10)).to.equal(true);
    expect(await followsMore(database.read, await read(), 10)).to.equal(false);
  });
});
