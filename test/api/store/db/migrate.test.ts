import { expect } from "chai";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { SchemaError } from "../../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { rawSql, tablesOf } from "../../../support/raw-sql.ts";
import { startTogether } from "../../../support/start-together.ts";
import { useFolder } from "../../../support/use-folder.ts";

const OPEN = `
  const { openDatabase } = await import("./api/store/db/database.ts");
  await together();
  const database = await openDatabase(process.argv[2]);
  await database.close();
  console.log("opened");
`;
const PROCESSES = 3;

describe("migrate", () => {
  const folder = useFolder();
  let place: DatabasePlace;

  beforeEach(async () => {
    place = await createTestDatabase({ schema: "none" });
  });
  afterEach(() => place.remove());

  describe("given several processes that open a new database at once", () => {
    it("lets each of them open it", async () => {
      const ended = await startTogether(PROCESSES, folder.path, OPEN, [place.url]);
      expect(ended.map(({ output }) => output)).to.deep.equal(Array(PROCESSES).fill("ready\nopened\n"));
      expect(ended.map(({ child }) => child.exitCode)).to.deep.equal(Array(PROCESSES).fill(0));
    });
  });

  describe("given a migration that fails half way", () => {
    it("rolls it back, and succeeds once the cause is gone", async () => {
      // This table collides with one of the last tables of the migration.
      await rawSql(place.url, "create table deliveries (x integer)");
      const refused = await openDatabase(place.url).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(SchemaError);
      expect(await tablesOf(place.url)).to.deep.equal(["deliveries"]);
      await rawSql(place.url, "drop table deliveries");
      await (await openDatabase(place.url)).close();
      expect(await tablesOf(place.url)).to.include.members(["meta", "deliveries"]);
    });
  });
});
