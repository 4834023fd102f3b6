import { statSync } from "node:fs";

import { expect } from "chai";
import { sql } from "kysely";

import { pathOf } from "../../../../api/store/db/database.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { describeOn } from "../../../support/engine.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("writes that share a commit", () => {
  const database = useTestDatabase();

  const add = (key: string) => (trx: Trx) => trx.insertInto("counters").values({ key, slot: 0, value: 1 }).execute();
  const keys = async () =>
    (await database.read.selectFrom("counters").select("key").orderBy("key").execute()).map((row) => row.key);
  const messages = (results: PromiseSettledResult<unknown>[]) =>
    results.map((result) => (result.status === "fulfilled" ? "ok" : (result.reason as Error).message));

  describe("given operations of one tick", () => {
    it("answers only after the commit", async () => {
      const visible: string[][] = [];
      await Promise.all(["a", "b"].map((key) => database.write(add(key)).then(async () => visible.push(await keys()))));
      expect(visible).to.deep.equal([
        ["a", "b"],
        ["a", "b"],
      ]);
    });
  });

  describeOn("sqlite", "given operations of which each follows the answer to the one before", () => {
    it("begins in a later turn of the event loop, after what was asked for before", async () => {
      await database.write(add("first"));
      // SQLite answers in the same turn: by now the commit has ended.
      for (let steps = 0; steps < 20; steps++) await Promise.resolve();
      let later = false;
      setImmediate(() => {
        later = true;
      });
      await database.write(add("second"));
      expect(later).to.equal(true);
    });

    it("lets other things happen meanwhile", async () => {
      let passed = 0;
      const count = () => {
        passed += 1;
        if (passed < 50) setImmediate(count);
      };
      let writes = 0;
      await database.write(add("first"));
      count();
      while (passed < 50 && writes < 1_000) await database.write(add((writes++).toString()));
      expect(writes).to.be.lessThan(150);
    });
  });

  describe("given one that throws", () => {
    it("rolls back only its own changes", async () => {
      const results = await Promise.allSettled([
        database.write(add("a")),
        database.write(async (trx) => {
          await add("b")(trx);
          throw new Error("refused");
        }),
        database.write(add("c")),
      ]);
      expect(messages(results)).to.deep.equal(["ok", "refused", "ok"]);
      expect(await keys()).to.deep.equal(["a", "c"]);
    });
  });

  describeOn("sqlite", "given an engine that ends the transaction half way, as on a full disk", () => {
    it("fails the whole group with the cause, stores nothing, and runs the next group", async () => {
      await database.write(async (trx) => {
        await sql`create table full_disk (x integer)`.execute(trx);
        await sql`create trigger fail before insert on full_disk begin select raise(rollback, 'disk is full'); end`.execute(
          trx,
        );
      });
      const results = await Promise.allSettled([
        database.write(add("a")),
        database.write((trx) => sql`insert into full_disk values (1)`.execute(trx)),
        database.write(add("c")),
      ]);
      expect(results.map((result) => result.status)).to.deep.equal(["rejected", "rejected", "rejected"]);
      expect(messages(results)[1]).to.equal("disk is full");
      expect(await keys()).to.deep.equal([]);
      await database.write(add("d"));
      expect(await keys()).to.deep.equal(["d"]);
    });
  });

  describeOn("sqlite", "given a commit that is refused", () => {
    it("fails every member and stores nothing", async () => {
      const missing = (trx: Trx) =>
        trx
          .insertInto("api_tokens")
          .values({
            id: "1",
            app_id: "nobody",
            name: "x",
            hash: "x",
            scopes: "[]",
            expires_at: null,
            revoked_at: null,
            created_at: 1,
          })
          .execute();
      const results = await Promise.allSettled([
        database.write(add("a")),
        database.write(async (trx) => {
          // The foreign key is checked when the transaction commits.
          await sql`pragma defer_foreign_keys = on`.execute(trx);
          await missing(trx);
        }),
      ]);
      expect(messages(results)).to.deep.equal(Array(2).fill("FOREIGN KEY constraint failed"));
      expect(await keys()).to.deep.equal([]);
      await database.write(add("d"));
      expect(await keys()).to.deep.equal(["d"]);
    });
  });

  describeOn("sqlite", "given commits of a thousand pages each", () => {
    const ROUNDS = 8;
    const BYTES = 1_200 * 4_096;

    it("copies the log into the file after each, so that the log begins anew and does not grow", async () => {
      await database.write((trx) => sql`create table large (x blob)`.execute(trx));
      for (let round = 0; round < ROUNDS; round++) {
        await database.write((trx) => sql`insert into large values (zeroblob(${BYTES}))`.execute(trx));
      }
      // The last commit may not be copied yet.
      expect(statSync(pathOf(database.url)).size).to.be.greaterThan((ROUNDS - 1) * BYTES);
      expect(statSync(`${pathOf(database.url)}-wal`).size).to.be.within(BYTES, 2 * BYTES);
    });
  });
});
