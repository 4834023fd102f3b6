import { expect } from "chai";
import { sql } from "kysely";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { DatabaseUnavailable } from "../../../../api/store/db/errors.ts";
import { advanceSequences, readCounter } from "../../../../api/store/db/counters.ts";
import { writeMeta } from "../../../../api/store/db/meta.ts";
import { startCommitProxy } from "../../../../scripts/scene/postgres-proxy.ts";
import { describeOn } from "../../../support/engine.ts";
import { useTwoProcesses } from "../../../support/two-processes.ts";

describeOn("postgres", "writes of several processes", () => {
  const two = useTwoProcesses();

  /** Two operations meet: each waits until the other has come as far. */
  function meeting(): () => Promise<void> {
    const { promise, resolve } = Promise.withResolvers<null>();
    let arrived = 0;
    return async () => {
      if (++arrived === 2) resolve(null);
      await promise;
    };
  }

  it("runs an operation again that another process's locks ended", async () => {
    await two.one.write(async (trx) => {
      await writeMeta(trx, "checkpoint", "0");
      await writeMeta(trx, "confirmed_block", "0");
    });
    const meet = meeting();
    let runs = 0;
    const add = (database: Database, first: string, second: string) =>
      database.write(async (trx) => {
        runs += 1;
        // The one that was ended waits for the other. Otherwise it may take its lock before the other wakes up, and they meet once more.
        if (runs > 2) await Promise.race(adding);
        await sql`update meta set value = (value::int + 1)::text where key = ${first}`.execute(trx);
        await meet();
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

  it("commits the others of a group when one fails", async () => {
    const add = (key: string, fails: boolean) =>
      two.one.write(async (trx) => {
        await advanceSequences(trx, new Map([[key, 1]]));
        if (fails) throw new Error("refused");
      });
    const results = await Promise.allSettled([add("a", false), add("b", true), add("c", false)]);
    expect(results.map(({ status }) => status)).to.deep.equal(["fulfilled", "rejected", "fulfilled"]);
    const values = await Promise.all(["a", "b", "c"].map((key) => readCounter(two.one.read, key)));
    expect(values).to.deep.equal([1, 0, 1]);
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

  it("gives the numbers of a sequence in the order of the commits", async () => {
    const held = Promise.withResolvers<null>();
    const taken = Promise.withResolvers<null>();
    const committed: string[] = [];
    const next = (database: Database, wait: Promise<unknown>) =>
      database.write(async (trx) => {
        const numbers = await advanceSequences(trx, new Map([["events:app", 1]]));
        taken.resolve(null);
        await wait;
        return numbers.get("events:app");
      });
    const first = next(two.one, held.promise).then((number) => committed.push(`first ${String(number)}`));
    await taken.promise;
    const second = next(two.other, Promise.resolve()).then((number) => committed.push(`second ${String(number)}`));
    // The second waits for the first: nobody sees its number before that of the first.
    for (let waits = 0; waits === 0;) {
      const { rows } = await sql<{ waits: number }>`
        select count(*) as waits from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      `.execute(two.one.read);
      waits = rows[0]?.waits ?? 0;
    }
    expect(await readCounter(two.one.read, "events:app")).to.equal(0);
    held.resolve(null);
    await Promise.all([first, second]);
    expect(committed.toSorted()).to.deep.equal(["first 1", "second 2"]);
  });
});
