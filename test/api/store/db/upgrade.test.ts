import { expect } from "chai";

import { newLeaseHolder } from "../../../../api/shared/lease-holder.ts";
import { openDatabase } from "../../../../api/store/db/database.ts";
import { SchemaError } from "../../../../api/store/db/migrate.ts";
import { recordProcess, removeProcess } from "../../../../api/store/db/presence.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { TestProcess } from "../../../support/process.ts";
import { rawSql, tablesOf } from "../../../support/raw-sql.ts";
import { startTogether } from "../../../support/start-together.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { openLater } from "../support/later-version.ts";

/** Opens the database with a later version. */
const OPEN_LATER = `
  const { openLater } = await import("./test/api/store/support/later-version.ts");
  await together();
  await openLater(process.argv[2]);
  console.log("opened");
`;
const PROCESSES = 3;

describe("migrate, between two versions", () => {
  const folder = useFolder();
  let place: DatabasePlace;

  beforeEach(async () => {
    place = await createTestDatabase();
    await (await openDatabase(place.url)).close();
  });
  afterEach(() => place.remove());

  const refusal = async (opening: Promise<unknown>) => {
    const refused = await opening.then(
      () => "it was opened",
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(SchemaError);
    return (refused as Error).message;
  };

  describe("given a later version has updated the tables", () => {
    it("refuses to open the database, names the version and changes nothing", async () => {
      await openLater(place.url);
      const migrations = () => rawSql(place.url, "select * from kysely_migration order by name");
      const before = { tables: await tablesOf(place.url), migrations: await migrations() };
      expect(await refusal(openDatabase(place.url))).to.equal(
        "The database was migrated by Moneta 99.1.0 or newer (0099-v99.1.0-labels), which this version does not know. " +
          "Start Moneta 99.1.0 or newer, or restore a backup that was made before the upgrade. Nothing was changed.",
      );
      expect({ tables: await tablesOf(place.url), migrations: await migrations() }).to.deep.equal(before);
    });
  });

  describe("given several processes of a later version that start at once", () => {
    it("lets one update the tables and the others wait for it", async () => {
      const ended = await startTogether(PROCESSES, folder.path, OPEN_LATER, [place.url]);
      expect(ended.map(({ output }) => output)).to.deep.equal(Array(PROCESSES).fill("ready\nopened\n"));
      expect(await tablesOf(place.url)).to.include("labels");
    });
  });

  describe("given a process of an earlier version still runs", () => {
    it("refuses to update the tables until that process has ended", async () => {
      const [mine, database] = [newLeaseHolder(), await openDatabase(place.url)];
      const now = Date.now();
      await database.write((trx) => recordProcess(trx, "api", mine, { now, until: now + 15_000 }));
      expect(await refusal(openLater(place.url))).to.match(
        new RegExp(`an earlier version of Moneta still uses the database \\(process ${process.pid.toString()} on `),
      );
      expect(await tablesOf(place.url)).not.to.include("labels");
      await database.write((trx) => removeProcess(trx, "api", mine));
      await database.close();
      await openLater(place.url);
      expect(await tablesOf(place.url)).to.include("labels");
    });

    it("ignores a process that was killed: on this machine at once, on another when its time is over", async () => {
      const database = await openDatabase(place.url);
      const [host, namespace] = newLeaseHolder().split("/");
      const ended = new TestProcess(["-e", ""], {});
      await ended.gone();
      const [here, elsewhere] = [`${host}/${namespace}/${String(ended.child.pid)}/x`, "elsewhere/1/1/x"];
      const now = Date.now();
      await database.write((trx) => recordProcess(trx, "relayer", here, { now, until: now + 15_000 }));
      await database.write((trx) => recordProcess(trx, "other", elsewhere, { now, until: now - 1 }));
      await database.close();
      await openLater(place.url);
      expect(await tablesOf(place.url)).to.include("labels");
    });
  });
});
