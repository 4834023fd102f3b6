import { expect } from "chai";

import { TestProcess } from "../../support/process.ts";

/** One fault of each family. `npm run campaign` runs them all. */
const FAMILIES = [
  "kill -9 at relayer:committed",
  "kill -9 at indexer:stored",
  "loses a broadcast",
  "reorg of 1",
  "two processes",
];

describe("fault campaign, short form", () => {
  for (const family of FAMILIES) {
    it(`loses and duplicates nothing under the fault ${family}`, async () => {
      const campaign = new TestProcess(
        ["scripts/campaign/main.ts", "--faults", "1", "--requests", "40", "--only", family],
        {},
      );
      expect(await campaign.gone(), campaign.output).to.equal(0);
      expect(campaign.output).to.match(
        /1 faults, \d+ requests: 0 lost, 0 duplicated, 0 settled wrongly, 0 stuck, 0 other problems/,
      );
    });
  }
});
