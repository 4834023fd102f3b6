import { expect } from "chai";

import { CounterDeltas } from "../../../../api/store/db/counters.ts";
import {
  foreignChangesSince,
  forgetForeign,
  IndexedContractsCache,
} from "../../../../api/store/ledger/indexed-contracts.ts";
import { rollback } from "../../../../api/store/ledger/rollback.ts";
import { startAtBlock } from "../../support/blocks.ts";
import { follow as followIn } from "../../support/follow.ts";
import { addApp, addCollection, APP, randomAddress } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("IndexedContractsCache", () => {
  const database = useTestDatabase();
  let cache: IndexedContractsCache;
  beforeEach(async () => {
    await addApp(database);
    cache = new IndexedContractsCache();
  });

  const read = () => cache.read(database.read);
  const collections = async () => [...(await read()).collections.keys()];
  const follow = (address = randomAddress()) => followIn(database, { app: APP, address });
  const followedFrom = async (contract: string) => (await read()).foreign.get(contract)?.followers.get(APP);

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
    await follow(first);
    expect((await read()).foreign).to.equal(foreign);
    const second = await follow();
    expect([...(await read()).foreign.keys()]).to.have.members([first, second]);
    await database.write((trx) => forgetForeign(trx, [first], new CounterDeltas()));
    expect([...(await read()).foreign.keys()]).to.deep.equal([second]);
  });

  it("reads again from which block a contract is followed after a reorg", async () => {
    await startAtBlock(database, 20);
    const contract = await follow();
    expect(await followedFrom(contract)).to.deep.equal([{ from: 20, to: null }]);
    await database.write((trx) => rollback(trx, 14));
    expect(await followedFrom(contract)).to.deep.equal([{ from: 14, to: null }]);
  });

  it("tells which follows were added since", async () => {
    const indexed = await read();
    expect(await foreignChangesSince(database.read, indexed)).to.equal(null);
    const contract = await follow();
    expect(await foreignChangesSince(database.read, indexed)).to.deep.equal({
      added: [{ appId: APP, contract }],
      ofAdopted: false,
    });
    expect(await foreignChangesSince(database.read, await read())).to.equal(null);
    await addApp(database, "app-2");
    const again = await read();
    await followIn(database, { app: "app-2", address: contract });
    expect(await foreignChangesSince(database.read, again)).to.deep.equal({
      added: [{ appId: "app-2", contract }],
      ofAdopted: false,
    });
  });
});
