import { expect } from "chai";

import { settle } from "../../../scripts/bench/pipeline.ts";
import type { Figure } from "../../../scripts/bench/scenario.ts";
import { World } from "../../../scripts/bench/world.ts";
import { ROOT } from "../../../scripts/scene/program.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";

/** Most statements for each request. */
const GOALS = {
  "SQL statements for a mint": 4,
  "SQL writes for a mint": 1,
  "SQL statements for a transfer": 4,
  "SQL writes for a transfer": 1,
};

/**
 * What a request costs in statements does not depend on the machine, so it is checked here; times and rates are printed by
 * `npm run bench:pipeline`.
 */
describe("SQL statements for each request of a burst", () => {
  let figures: Figure[];
  let place: DatabasePlace | null = null;
  before(async () => {
    const databases = {
      engine: TEST_ENGINE,
      create: async (folder: string) => {
        place = await createTestDatabase({ folder });
        return place.url;
      },
    };
    figures = await World.use({ checkout: ROOT, databases, quick: true, profiles: null }, {}, async (world) => {
      const [from, to] = [await world.wallet(), await world.wallet()];
      const body = { collection_address: await world.collection(), to_address: from };
      return settle(world, { body, to, mints: 400 });
    });
  });
  after(() => place?.remove());

  for (const [what, goal] of Object.entries(GOALS)) {
    it(`are at most ${goal.toString()}: ${what}`, () => {
      expect(figures.find((one) => one.what === what)?.value)
        .to.be.greaterThan(0)
        .and.at.most(goal);
    });
  }
});
