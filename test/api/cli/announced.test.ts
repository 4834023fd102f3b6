import { expect } from "chai";

import { announced } from "../../../api/cli/announced.ts";
import { type Database, openDatabase } from "../../../api/store/db/database.ts";
import { SchemaError } from "../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { rawSql } from "../../support/raw-sql.ts";
import { openLater } from "../store/support/later-version.ts";

describe("the work of a command that writes for long", () => {
  let place: DatabasePlace;
  let database: Database;
  beforeEach(async () => {
    place = await createTestDatabase({ schema: "none" });
    database = await openDatabase(place.url);
  });
  afterEach(async () => {
    await database.close();
    await place.remove();
  });

  const refusal = () =>
    openLater(place.url).then(
      () => undefined,
      (error: unknown) => error,
    );

  it("keeps a later version from updating the tables until it ends, well or not", async () => {
    const result = await announced(database, async () => {
      const refused = await refusal();
      expect(refused).to.be.instanceOf(SchemaError);
      expect((refused as Error).message).to.include(`process ${process.pid.toString()} on `);
      return 7;
    });
    expect(result).to.equal(7);
    const failed = announced(database, () => Promise.reject(new Error("the disk is full")));
    expect((await rejectionOf(failed)).message).to.equal("the disk is full");
    await openLater(place.url);
  });

  it("ends with the reason when the tables were updated nevertheless", async () => {
    const work = () => new Promise(() => undefined);
    const ended = rejectionOf(announced(database, work, 1));
    // As if the process had been paused until its time was over.
    await eventually(async () => {
      await rawSql(place.url, "delete from processes");
      return (await refusal()) === undefined ? true : undefined;
    });
    expect((await ended).message).to.match(/The database was migrated by Moneta 99\.1\.0 or newer/);
  });
});
