import { expect } from "chai";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { moveDatabase, type MovedTable, type MoveProgress } from "../../../../api/store/move/move.ts";
import { useDatabasePlace } from "../../../support/use-database.ts";
import { TEST_ENGINE } from "../../../support/engine.ts";
import { startPooler } from "../../../support/postgres-pooler.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useFolder } from "../../../support/use-folder.ts";

const silent: MoveProgress = () => undefined;

/** @returns the message of the error that the work ends with. */
async function rejection(work: Promise<unknown>): Promise<string> {
  return (await rejectionOf(work)).message;
}

const QUOTAS = {
  ...{ quota_media_bytes: Number.MAX_SAFE_INTEGER, quota_media_requests: null, quota_wallets: 0 },
  ...{ quota_stored_bytes: 1, quota_collections: null, quota_mints: 2, quota_api_tokens: null },
};
const APP_ROW = { id: "app", name: "ä € 🙂 \u0001", created_at: Number.MAX_SAFE_INTEGER, ...QUOTAS };

describe("moveDatabase", () => {
  const folder = useFolder();
  const engineOwn = useDatabasePlace();
  /** The database "new" is of the run's engine, all others are SQLite files. So PostgreSQL is moved to, and from. */
  const url = (name: string) => (name === "new" ? engineOwn.url : `file:${folder.path}/${name}.sqlite`);
  const using = async <T>(name: string, work: (database: Database) => Promise<T>): Promise<T> => {
    const database = await openDatabase(url(name));
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  const addWallet = (database: Database, address: string) =>
    database.write((trx) =>
      trx
        .insertInto("wallets")
        .values({ address, app_id: "app", user_identifier: null, path: address, created_at: 1 })
        .returning("seq")
        .executeTakeFirstOrThrow(),
    );
  const fill = (count: number) =>
    using("old", async (database) => {
      await database.write((trx) => trx.insertInto("apps").values(APP_ROW).execute());
      for (let i = 0; i < count; i += 1) await addWallet(database, `wallet-${i.toString()}`);
    });
  const rowsOf = (tables: readonly MovedTable[]) =>
    Object.fromEntries(tables.filter(({ rows }) => rows > 0).map(({ table, rows }) => [table, rows]));

  it("copies every table, in pages, and reports the same checksum for both", async () => {
    await fill(1_201);
    const steps: string[] = [];
    const moved = await moveDatabase(url("old"), url("new"), ({ table, checking, rows, total }) => {
      steps.push(`${table} ${checking ? "checked" : "copied"} ${rows.toString()}/${total.toString()}`);
    });
    expect(rowsOf(moved)).to.deep.equal({ apps: 1, wallets: 1_201 });
    expect(steps.filter((step) => step.startsWith("wallets"))).to.deep.equal([
      "wallets copied 1000/1201",
      "wallets copied 1201/1201",
      "wallets checked 1000/1201",
      "wallets checked 1201/1201",
    ]);
    // Moved on from there, everything is the same again.
    expect(await moveDatabase(url("new"), url("third"), silent)).to.deep.equal(moved);
    const [app] = await using("third", ({ read }) => read.selectFrom("apps").selectAll().execute());
    expect(app).to.deep.equal(APP_ROW);
  });

  it("keeps row numbers, and gives none of them a second time", async () => {
    await fill(3);
    await using("old", (database) => database.write((trx) => trx.deleteFrom("wallets").where("seq", ">", 1).execute()));
    await moveDatabase(url("old"), url("new"), silent);
    expect(await using("new", (database) => addWallet(database, "next"))).to.deep.equal({ seq: 4 });
  });

  it("refuses a database that a process has open, even idle, and changes nothing", async () => {
    await fill(1);
    await using("old", async () => {
      expect(await rejection(moveDatabase(url("old"), url("new"), silent))).to.match(/is in use. Stop every process/);
    });
    await moveDatabase(url("old"), url("new"), silent);
    await using("new", async () => {
      expect(await rejection(moveDatabase(url("new"), url("third"), silent))).to.match(/is in use. Stop every process/);
    });
  });

  if (TEST_ENGINE === "postgres")
    it("refuses a database behind a pooler, where an idle process could not be seen, and changes nothing", async () => {
      await fill(1);
      await moveDatabase(url("old"), url("new"), silent);
      const pooler = await startPooler(url("new"), 2, "own");
      try {
        expect(await rejection(moveDatabase(pooler.url, url("third"), silent))).to.match(/leads to a pooler/);
      } finally {
        await pooler.stop();
      }
    });

  it("lets nobody write to the old database meanwhile", async () => {
    await fill(1);
    const others: Promise<string>[] = [];
    await moveDatabase(url("old"), url("new"), () => {
      if (others.length === 0) others.push(rejection(moveDatabase(url("old"), url("third"), silent)));
    });
    const [second] = await Promise.all(others);
    expect(second).to.match(/is in use/);
  });

  it("refuses a new database that has rows", async () => {
    await fill(1);
    await moveDatabase(url("old"), url("new"), silent);
    expect(await rejection(moveDatabase(url("old"), url("new"), silent))).to.match(
      /not empty: its table apps has rows/,
    );
  });

  it("refuses the database itself, and one that does not exist", async () => {
    expect(await rejection(moveDatabase(url("old"), url("old"), silent))).to.match(/uses already/);
    expect(await rejection(moveDatabase(url("old"), url("new"), silent))).to.match(
      /There is no database at .*old.sqlite/,
    );
  });

  it("refuses another schema version", async () => {
    await fill(1);
    await using("old", async (database) => {
      await database.write((trx) =>
        trx
          .$extendTables<{ kysely_migration: { name: string; timestamp: string } }>()
          .deleteFrom("kysely_migration")
          .execute(),
      );
    });
    expect(await rejection(moveDatabase(url("old"), url("new"), silent))).to.match(
      /different schema versions \(none and 0/,
    );
  });

  it("leaves the new database empty when it is interrupted, and can run again", async () => {
    await fill(5);
    const interrupted = moveDatabase(url("old"), url("new"), ({ table, checking }) => {
      if (table === "wallets" && checking) throw new Error("the power failed");
    });
    expect(await rejection(interrupted)).to.match(/the power failed/);
    const count = (database: Database) => database.read.selectFrom("apps").select("id").execute();
    expect(await using("new", count)).to.deep.equal([]);
    expect(rowsOf(await moveDatabase(url("old"), url("new"), silent))).to.deep.equal({ apps: 1, wallets: 5 });
  });
});
