import { expect } from "chai";

import type { Databases } from "../../../scripts/bench/harness/databases.ts";
import type { Row } from "../../../scripts/bench/harness/row.ts";
import { reading } from "../../../scripts/bench/reading/reading.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { TEST_ENGINE } from "../../support/engine.ts";

const TOKENS = 2_000;

describe("benchmark of reading", () => {
  describe("when it runs", () => {
    let rows: Row[];
    const places: DatabasePlace[] = [];
    before(async () => {
      const databases: Databases = {
        engine: TEST_ENGINE,
        create: async (folder) => {
          const place = await createTestDatabase({ folder });
          places.push(place);
          return place.url;
        },
      };
      const plan = { sizes: [1_000, TOKENS], rounds: 2, warmUp: 1, within: 60_000, startUps: 1 };
      rows = await reading.run({ databases, profiles: null }, plan);
    });
    // It has removed the others itself.
    after(() => places[0]?.remove());

    it("measures every reading, and checks its answers", () => {
      const compared = rows.filter(({ what }) => what.includes("2,000 tokens"));
      expect(compared).to.have.length(42);
      for (const { what, measured, baseline } of compared) {
        expect(measured, what).to.be.greaterThan(0);
        expect(baseline?.measured, what).to.be.greaterThan(0);
      }
    });

    it("reports the disk and the start-up", () => {
      const others = rows.filter(({ what }) => /^(disk|start-up)/.test(what));
      expect(others).to.have.length(3);
      for (const { what, measured } of others) expect(measured, what).to.be.greaterThan(0);
    });
  });
});
