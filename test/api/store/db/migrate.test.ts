import { expect } from "chai";

import { openDatabase } from "../../../../api/store/db/database.ts";
import { SchemaError } from "../../../../api/store/db/migrate.ts";
import { createTestDatabase, type DatabasePlace } from "../../../support/database.ts";
import { TestProcess } from "../../../support/process.ts";
import { rawSql, tablesOf } from "../../../support/raw-sql.ts";

/** Opens the database at a given second of the clock, so that several processes start at the same time. */
const OPEN_AT = `
  const [url, at] = process.argv.slice(1);
  const { openDatabase } = await import("./api/store/db/database.ts");
  while (Date.now() < Number(at));
  const database = await openDatabase(url);
  await database.close();
  console.log("opened");
`;
const PROCESSES = 5;

describe("migrate", () => {
  let place: DatabasePlace;

  beforeEach(async () => {
    place = await createTestDatabase({ schema: "none" });
  });
  afterEach(() => place.remove());

  describe("given several processes that open a new database at once", () => {
    it("lets each of them open it", async () => {
      const at = (Date.now() + 3_000).toString();
      const opening = Array.from(
        { length: PROCESSES },
        () => new TestProcess(["--input-type=module", "-e", OPEN_AT, place.url, at], {}),
      );
      const codes = await Promise.all(opening.map((one) => one.gone()));
      expect(opening.map((one) => one.output.trim())).to.deep.equal(Array(PROCESSES).fill("opened"));
      expect(codes).to.deep.equal(Array(PROCESSES).fill(0));
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
