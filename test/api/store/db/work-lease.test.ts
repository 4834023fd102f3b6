import { expect } from "chai";
import type { KyselyPlugin } from "kysely";
import { pino } from "pino";

import { LeaseLost } from "../../../../api/shared/lease.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { takeNamedLease, WorkLease } from "../../../../api/store/db/work-lease.ts";
import { describeOn } from "../../../support/engine.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const TIME = { now: 1_000_000, lasts: 15_000 };

describe("WorkLease", () => {
  const database = useTestDatabase();

  it("lets a process that was replaced write nothing", async () => {
    let now = TIME.now;
    const times = { lasts: TIME.lasts, renewEvery: 5_000 };
    const deps = { database, logger: pino({ level: "silent" }), now: () => now, times };
    const [first, second] = [new WorkLease("indexer", deps), new WorkLease("indexer", deps)];
    const { signal } = new AbortController();
    const work = () => Promise.resolve("done");
    const count = async () =>
      (await database.read.selectFrom("meta").selectAll().where("key", "=", "checkpoint").execute()).length;
    const write = (lease: WorkLease) => lease.fenced.write((trx) => writeMeta(trx, "checkpoint", "1"));
    expect(await first.step(signal, work)).to.equal("done");
    now += 2 * TIME.lasts;
    expect(await second.step(signal, work)).to.equal("done");
    const refused: unknown = await write(first).catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(LeaseLost);
    expect(await count()).to.equal(0);
    await write(second);
    expect(await count()).to.equal(1);
  });
});

// SQLite has one writer at a time.
describeOn("postgres", "takeNamedLease", () => {
  const database = useTestDatabase();

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
