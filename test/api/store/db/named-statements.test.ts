import { expect } from "chai";
import { CompiledQuery, sql } from "kysely";
import type { PoolClient } from "pg";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { NamedStatements, PostgresConnection } from "../../../../api/store/db/postgres/driver.ts";
import { useDatabasePlace, useTestDatabase } from "../../../support/use-database.ts";
import { describeOn } from "../../../support/engine.ts";
import { startPooler } from "../../../support/postgres-pooler.ts";
import { rawSql } from "../../../support/raw-sql.ts";

/** More than after which a statement has a name. */
const OFTEN = 8;

describe("names of prepared statements", () => {
  const nameAfter = (names: NamedStatements, text: string, uses: number) =>
    Array.from({ length: uses }, () => names.nameOf(text)).at(-1);

  it("are limited in number, so that texts without end do not fill the server", () => {
    const names = new NamedStatements();
    const texts = Array.from({ length: 5_000 }, (_, index) => `select $1 + ${index.toString()}`);
    const named = texts.filter((text) => nameAfter(names, text, OFTEN) !== undefined);
    expect(named).to.have.length(150);
    expect(nameAfter(names, "x".repeat(20_000), OFTEN)).to.equal(undefined);
  });
});

describe("plans of prepared statements", () => {
  it("are made again every five seconds, because tables grow, and only where there are any", async () => {
    let now = 1_000;
    const commands: unknown[] = [];
    const client = {
      processID: 7,
      query: (text: unknown) => {
        commands.push(text);
        return Promise.resolve({ command: "", rowCount: 0, rows: [{ process: 7 }] });
      },
    };
    const connection = new PostgresConnection(client as unknown as PoolClient, new NamedStatements(() => now));
    await connection.begin();
    const statement = CompiledQuery.raw("select $1", [1]);
    const run = () => Promise.all(Array.from({ length: OFTEN }, () => connection.executeQuery(statement)));
    /** Whether the server was told to forget its plans after so many milliseconds. */
    const after = async (ms: number) => {
      now += ms;
      await connection.forgetOldPlans();
      return commands.splice(0).includes("discard plans");
    };
    expect(await after(10_000)).to.equal(false);
    await run();
    expect([await after(4_000), await after(1_000), await after(10_000)]).to.deep.equal([false, true, false]);
    await run();
    expect([await after(1_000), await after(4_000)]).to.deep.equal([false, true]);
  });
});

describeOn("postgres", "prepared statements", () => {
  const database = useTestDatabase({ prepare: ({ url }) => rawSql(url, "create table t (x integer primary key)") });

  const select = (db = database.read, x: unknown = 0) => sql`select * from t where x >= ${x}`.execute(db);
  const times = async (count: number, work: () => Promise<unknown>) => {
    for (let time = 0; time < count; time++) await work();
  };

  it("take values of any JavaScript type, as statements without a name do", async () => {
    const values = [1, "2", 3n, null, "9007199254740993"];
    for (const value of [...values, ...values, ...values]) {
      const { rows } = await sql<{ text: string | null }>`select ${value}::text as text`.execute(database.read);
      expect(rows).to.deep.equal([{ text: value === null ? null : value.toString() }]);
    }
  });

  it("are prepared again after one failed, also inside a transaction", async () => {
    const insert = (x: unknown) => database.write((trx) => sql`insert into t values (${x})`.execute(trx));
    for (let x = 0; x < OFTEN; x++) await insert(x);
    for (const x of [1, "no number"]) expect(await insert(x).catch((error: unknown) => error)).to.be.instanceOf(Error);
    const failed = database.write(async (trx) => {
      await sql`select 1 / ${0}::integer`.execute(trx).catch(() => undefined);
      // The server refuses to parse it in a failed transaction.
      await times(OFTEN, () => sql`select x from t where x = ${1}`.execute(trx).catch(() => undefined));
    });
    expect(await failed.catch((error: unknown) => error)).to.be.instanceOf(Error);
    for (let x = OFTEN; x < 2 * OFTEN; x++) await insert(x);
    await times(OFTEN, () => sql`select x from t where x = ${1}`.execute(database.read));
    expect((await select()).rows).to.have.length(2 * OFTEN);
  });

  describe("given a table whose columns changed", () => {
    const OFTEN_ON_EACH = 4 * OFTEN;
    beforeEach(async () => {
      await rawSql(database.url, "insert into t values (1)");
      await Promise.all(Array.from({ length: OFTEN_ON_EACH }, () => select()));
      await times(OFTEN, () => database.write((trx) => select(trx)));
      await rawSql(database.url, "alter table t add column y integer default 5");
    });

    it("answers a read with the new columns", async () => {
      const answers = await Promise.all(Array.from({ length: OFTEN_ON_EACH }, () => select()));
      for (const { rows } of answers) expect(rows).to.deep.equal([{ x: 1, y: 5 }]);
    });

    it("runs a write again, and stores it once", async () => {
      let runs = 0;
      const write = (x: number) =>
        database.write(async (trx) => {
          runs += 1;
          await sql`insert into t values (${x})`.execute(trx);
          return (await select(trx, x)).rows.find((row) => (row as { x: number }).x === x);
        });
      const writes = await Promise.all([2, 3, 4, 5, 6].map(write));
      expect(writes).to.deep.equal([2, 3, 4, 5, 6].map((x) => ({ x, y: 5 })));
      expect(runs).to.be.above(5);
      expect((await select()).rows).to.have.length(6);
    });
  });

  it("are given up, and nothing fails, after the server forgot one", async () => {
    await times(OFTEN, () => database.write((trx) => select(trx)));
    await database.write((trx) => sql`deallocate all`.execute(trx));
    await times(OFTEN, () => database.write((trx) => select(trx)));
    expect((await select()).rows).to.deep.equal([]);
  });
});

describeOn("postgres", "prepared statements behind a pooler in transaction mode", () => {
  const place = useDatabasePlace();
  beforeEach(() => rawSql(place.url, "create table t (x integer)"));

  for (const [what, processes, names] of [
    ["are not used", "own", "none"],
    ["are used no longer, and store everything once, when a pooler looks like the server", "server", "some"],
  ] as const) {
    it(what, async () => {
      const pooler = await startPooler(place.url, 3, processes);
      const database = await openDatabase(pooler.url);
      try {
        for (let x = 0; x < 10 * OFTEN; x++) {
          await Promise.all([
            database.write(async (trx) => {
              await sql`insert into t values (${x})`.execute(trx);
              await sql`select x from t where x = ${x}`.execute(trx);
            }),
            sql`select x from t where x < ${x}`.execute(database.read),
          ]);
        }
        expect(pooler.switches()).to.be.above(OFTEN);
        expect(pooler.named() > 0).to.equal(names === "some");
        const { rows } = await sql<{ x: number }>`select x from t order by x`.execute(database.read);
        expect(rows.map(({ x }) => x)).to.deep.equal(Array.from({ length: 10 * OFTEN }, (_, x) => x));
      } finally {
        await database.close();
        await pooler.stop();
      }
    });
  }
});
