import { expect } from "chai";
import type { KyselyPlugin } from "kysely";

import { takeNamedLease } from "../../../../api/store/db/work-lease.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { describeOn } from "../../../support/engine.ts";

const TIME = { now: 1_000_000, lasts: 15_000 };

// SQLite has one writer at a time.
describeOn("postgres", "takeNamedLease", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openTestDatabase();
  });
  afterEach(() => database.remove());

  it("leaves a lease to the process that has taken it since the look whether it is free", async () => {
    const take = (holder: string, plugin?: KyselyPlugin) =>
      database.write((trx) =>
        takeNamedLease(plugin === undefined ? trx : trx.withPlugin(plugin), "indexer", holder, TIME, () => false),
      );
    await database.write((trx) =>
      trx.insertInto("leases").values({ name: "indexer", holder: null, fence: 5, until: 0 }).execute(),
    );
    let first: Awaited<ReturnType<typeof take>> | undefined;
    /** Takes the lease after the first statement that reads it. */
    const between: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      transformResult: async ({ result }) => {
        if (first === undefined && result.rows.length > 0) first = await take("first");
        return result;
      },
    };
    expect(await take("second", between)).to.equal(null);
    expect(first).to.deep.equal({ name: "indexer", holder: "first", fence: 6 });
    const stored = await database.read.selectFrom("leases").select(["holder", "fence"]).executeTakeFirstOrThrow();
    expect(stored).to.deep.equal({ holder: "first", fence: 6 });
  });
});
