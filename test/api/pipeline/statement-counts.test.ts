import { expect } from "chai";

import type { Databases } from "../../../scripts/bench/harness/databases.ts";
import { settling } from "../../../scripts/bench/pipeline/settling.ts";
import { ratioOf, type Row } from "../../../scripts/bench/harness/row.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";

/**
 * What a request costs in statements does not depend on the machine, so it is checked here; times and rates are printed by
 * `npm run bench:pipeline`.
 */
describe("SQL statements for each request of a burst", () => {
  let rows: Row[];
  let place: DatabasePlace | null = null;
  before(async () => {
    const databases: Databases = {
      engine: TEST_ENGINE,
      create: async (folder) => {
        place = await createTestDatabase({ folder });
        return place.url;
      },
    };
    rows = await settling.run({ mints: 400, baselines: false, profiles: null, databases });
  });
  after(() => place?.remove());

  for (const what of [
    "SQL statements for a mint",
    "SQL writes for a mint",
    "SQL statements for a transfer",
    "SQL writes for a transfer",
  ]) {
    it(`meets the goal: ${what}`, () => {
      const row = rows.find((one) => one.what === what);
      if (row?.goal == null || !("atMost" in row.goal)) throw new Error("the row has no goal");
      expect(ratioOf(row)).to.be.greaterThan(0).and.at.most(row.goal.atMost);
    });
  }
});
