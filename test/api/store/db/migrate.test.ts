import { join } from "node:path";

import { expect } from "chai";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { SchemaError } from "../../../../api/store/db/migrate.ts";
import { openSqlite } from "../../../../api/store/db/sqlite.ts";
import { TestProcess } from "../../../support/process.ts";
import { temporaryFolder } from "../../../support/folder.ts";

/** Opens the database at a given second of the clock, so that several processes start at the same time. */
const OPEN_AT = `
  const [url, at] = process.argv.slice(1);
  const { openDatabase } = await import("./api/store/db/database.ts");
  while (Date.now() < Number(at));
  const database = await openDatabase(url);
  await database.close();
  console.log("opened");
`;

describe("migrate", function () {
  this.timeout(30_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let file: string;

  beforeEach(async () => {
    folder = await temporaryFolder();
    file = join(folder.path, "moneta.sqlite");
  });
  afterEach(() => folder.remove());

  const tables = async () => {
    const { writer } = openSqlite(file, "create");
    const found = await writer.introspection.getTables();
    await writer.destroy();
    return found.map((table) => table.name);
  };

  describe("given several processes that open a new database at once", () => {
    it("lets each of them open it", async () => {
      const at = (Date.now() + 3_000).toString();
      const opening = Array.from(
        { length: 4 },
        () => new TestProcess(["--import", "tsx", "--input-type=module", "-e", OPEN_AT, `file:${file}`, at], {}),
      );
      const codes = await Promise.all(opening.map((one) => one.gone()));
      expect(opening.map((one) => one.output.trim())).to.deep.equal(Array(4).fill("opened"));
      expect(codes).to.deep.equal([0, 0, 0, 0]);
    });
  });

  describe("given a migration that fails half way", () => {
    it("rolls it back, and succeeds once the cause is gone", async () => {
      const { writer } = openSqlite(file, "create");
      // This table collides with one of the last tables of the migration.
      await writer.schema.createTable("deliveries").addColumn("x", "integer").execute();
      await writer.destroy();
      const refused = await openDatabase(`file:${file}`).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SchemaError);
      expect(await tables()).to.deep.equal(["deliveries"]);
      const again = openSqlite(file, "create").writer;
      await again.schema.dropTable("deliveries").execute();
      await again.destroy();
      await (await openDatabase(`file:${file}`)).close();
      expect(await tables()).to.include.members(["meta", "deliveries"]);
    });
  });

  describe("given a database that a newer version has migrated", () => {
    it("refuses it, names the migration and changes nothing", async () => {
      const database = await openDatabase(`file:${file}`);
      await database.close();
      const { writer } = openSqlite(file, "create");
      await writer
        .$extendTables<{ kysely_migration: { name: string; timestamp: string } }>()
        .insertInto("kysely_migration")
        .values({ name: "0099-later", timestamp: "2030-01-01T00:00:00.000Z" })
        .execute();
      await writer.destroy();
      const refused = await openDatabase(`file:${file}`).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SchemaError);
      expect((refused as Error).message).to.include("0099-later");
    });
  });
});
