import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { newLeaseHolder } from "../../../../api/shared/lease-holder.ts";
import { openDatabase } from "../../../../api/store/db/database.ts";
import { SchemaError } from "../../../../api/store/db/migrate.ts";
import { recordProcess, removeProcess } from "../../../../api/store/db/presence.ts";
import { TestProcess } from "../../../support/process.ts";
import { rawSql, tablesOf } from "../../../support/raw-sql.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useDatabasePlace } from "../../../support/use-database.ts";
import { useFolder } from "../../../support/use-folder.ts";
import { openLater } from "../support/later-version.ts";

const PROCESSES = 3;

async function refusal(opening: Promise<unknown>): Promise<string> {
  const refused = await rejectionOf(opening);
  expect(refused).to.be.instanceOf(SchemaError);
  return refused.message;
}

describe("migrate", () => {
  const folder = useFolder();

  /** Lets several processes open a database at the same time. @param open code that opens the one at `url` and closes it. */
  async function openTogether(url: string, open: string): Promise<void> {
    const go = join(folder.path, "go");
    // A file starts all of them. Looking for it more often would take the time of the processes that are not ready yet.
    const code = `
      const { existsSync } = await import("node:fs");
      const { setTimeout: wait } = await import("node:timers/promises");
      const { openDatabase } = await import("./api/store/db/database.ts");
      const { openLater } = await import("./test/api/store/support/later-version.ts");
      const [, go, url] = process.argv;
      console.log("ready");
      while (!existsSync(go)) await wait(1);
      ${open}
      console.log("opened");`;
    const args = ["--input-type=module", "-e", code, go, url];
    const processes = Array.from({ length: PROCESSES }, () => new TestProcess(args, {}));
    await Promise.all(processes.map((one) => one.printed(/ready\n/)));
    await writeFile(go, "");
    await Promise.all(processes.map((one) => one.gone()));
    expect(processes.map(({ output }) => output)).to.deep.equal(Array(PROCESSES).fill("ready\nopened\n"));
    expect(processes.map(({ child }) => child.exitCode)).to.deep.equal(Array(PROCESSES).fill(0));
  }

  describe("given a new database", () => {
    const place = useDatabasePlace({ schema: "none" });

    it("lets each of several processes open it at once", async () => {
      await openTogether(place.url, "await (await openDatabase(url)).close();");
    });

    it("rolls back a migration that fails half way, and succeeds once the cause is gone", async () => {
      // This table collides with one of the last tables of the migration.
      await rawSql(place.url, "create table deliveries (x integer)");
      await refusal(openDatabase(place.url));
      expect(await tablesOf(place.url)).to.deep.equal(["deliveries"]);
      await rawSql(place.url, "drop table deliveries");
      await (await openDatabase(place.url)).close();
      expect(await tablesOf(place.url)).to.include.members(["meta", "deliveries"]);
    });
  });

  describe("given a later version", () => {
    const place = useDatabasePlace();
    beforeEach(async () => {
      await (await openDatabase(place.url)).close();
    });

    it("refuses to open the database that it has updated, names it and changes nothing", async () => {
      await openLater(place.url);
      const migrations = () => rawSql(place.url, "select * from kysely_migration order by name");
      const before = { tables: await tablesOf(place.url), migrations: await migrations() };
      expect(await refusal(openDatabase(place.url))).to.equal(
        "The database was migrated by Moneta 99.1.0 or newer (0099-v99.1.0-labels), which this version does not know. " +
          "Start Moneta 99.1.0 or newer, or restore a backup that was made before the upgrade. Nothing was changed.",
      );
      expect({ tables: await tablesOf(place.url), migrations: await migrations() }).to.deep.equal(before);
    });

    it("lets one of its processes that start at once update the tables, and the others wait for it", async () => {
      await openTogether(place.url, "await openLater(url);");
      expect(await tablesOf(place.url)).to.include("labels");
    });

    it("refuses to let it update the tables until a process of an earlier version has ended", async () => {
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
