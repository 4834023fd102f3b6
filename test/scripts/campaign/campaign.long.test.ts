import { expect } from "chai";

import { anvilBinary } from "../../../scripts/scene/anvil.ts";
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
  before(function () {
    if (anvilBinary() === null) this.skip();
  });

  it("loses and duplicates nothing under one fault of each family", async () => {
    const faults = FAMILIES.length.toString();
    const only = FAMILIES.flatMap((family) => ["--only", family]);
    const campaign = new TestProcess(
      ["scripts/campaign/main.ts", "--faults", faults, "--chain", "anvil", "--verbose", ...only],
      {},
    );
    expect(await campaign.gone(), campaign.output).to.equal(0);
    for (const family of FAMILIES) expect(campaign.output).to.contain(family);
    expect(campaign.output).to.match(
      /5 faults, \d+ requests: 0 lost, 0 duplicated, 0 settled wrongly, 0 stuck, 0 other problems/,
    );
  });
});
