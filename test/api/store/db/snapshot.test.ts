import { expect } from "chai";

import type { Db } from "../../../../api/store/db/sql.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("a snapshot of the database", () => {
  const database = useTestDatabase();

  const keysIn = async (db: Db) => (await db.selectFrom("counters").select("key").execute()).map(({ key }) => key);

  it("stays as it is, and keeps no other read waiting", async () => {
    await database.snapshot(async (db) => {
      expect(await keysIn(db)).to.deep.equal([]);
      await database.write((trx) => trx.insertInto("counters").values({ key: "new", slot: 0, value: 1 }).execute());
      expect(await keysIn(database.read)).to.deep.equal(["new"]);
      expect(await keysIn(db)).to.deep.equal([]);
    });
    expect(await database.snapshot(keysIn)).to.deep.equal(["new"]);
  });
});
