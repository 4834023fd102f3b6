import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { DatabaseUnavailable } from "../../../../api/store/db/errors.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { startCommitProxy } from "../../../../scripts/scene/postgres-proxy.ts";
import { describeOn } from "../../../support/engine.ts";
import { useTwoProcesses } from "../../../support/two-processes.ts";

describeOn("postgres", "writes of several processes", () => {
  const two = useTwoProcesses();

  it("runs an operation again that another process's locks ended", async () => {
    await two.one.write(async (trx) => {
      await writeMeta(trx, "checkpoint", "0");
      await writeMeta(trx, "confirmed_block", "0");
    });
    // Each waits until the other has come as far.
    const met = Promise.withResolvers<null>();
    let [runs, arrived] = [0, 0];
    const add = (database: Database, first: string, second: string) =>
      database.write(async (trx) => {
        runs += 1;
        // The one that was ended waits for the other. Otherwise it may take its lock before the other wakes up, and they meet once more.
        if (runs > 2) await Promise.race(adding);
        await sql`update meta set value = (value::int + 1)::text where key = ${first}`.execute(trx);
        if (++arrived === 2) met.resolve(null);
        await met.promise;
        await sql`update meta set value = (value::int + 1)::text where key = ${second}`.execute(trx);
      });
    const adding: Promise<void>[] = [
      add(two.one, "checkpoint", "confirmed_block"),
      add(two.other, "confirmed_block", "checkpoint"),
    ];
    await Promise.all(adding);
    const rows = await two.one.read.selectFrom("meta").select("value").execute();
    expect(rows.map(({ value }) => value)).to.deep.equal(["2", "2"]);
    expect(runs).to.equal(3);
  });

  it("does not run a group again whose commit was stored, and whose answer was lost with the connection", async () => {
    const proxy = await startCommitProxy(two.one.url);
    const behind = await openDatabase(proxy.url);
    try {
      const lost = proxy.loseCommitOf("update meta set value");
      const add = () =>
        behind.write((trx) =>
          sql`update meta set value = (value::int + 1)::text where key = 'checkpoint'`.execute(trx),
        );
      await two.one.write((trx) => writeMeta(trx, "checkpoint", "0"));
      const results = await Promise.allSettled([add(), add()]);
      await lost;
      for (const result of results)
        expect(result).to.have.property("reason").that.is.an.instanceOf(DatabaseUnavailable);
      // Each ran once, and the service cannot know it.
      const row = await two.one.read.selectFrom("meta").select("value").executeTakeFirst();
      expect(row?.value).to.equal("2");
    } finally {
      await behind.close();
      await proxy.stop();
    }
  });
});
