import { expect } from "chai";

import { TestProcess } from "../support/process.ts";

/** The short form: one of each family of faults, on both nodes. The long form is `npm run campaign`. */
const FAMILIES = [
  "kill -9 at relayer:committed",
  "kill -9 at indexer:stored",
  "loses a broadcast",
  "reorg of 1",
  "two processes",
];

describe("the fault campaign, short form", function () {
  this.timeout(180_000);

  for (const family of FAMILIES) {
    it(`loses and doubles nothing: ${family}`, async () => {
      const campaign = new TestProcess(
        ["--import", "tsx", "scripts/campaign/main.ts", "--faults", "1", "--requests", "40", "--only", family],
        {},
      );
      expect(await campaign.gone(), campaign.output).to.equal(0);
      expect(campaign.output).to.match(/1 faults, \d+ requests: 0 lost, 0 doubled, 0 stuck, 0 other findings/);
    });
  }
});
