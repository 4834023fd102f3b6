import { expect } from "chai";
import hre from "hardhat";

import { BUILD_OUTPUT, compareGenerated, GENERATED } from "../../scripts/contracts/generated.ts";

describe("contracts/generated", () => {
  before(function () {
    // Code instrumented for coverage is not what is deployed.
    if (hre.globalOptions.coverage) this.skip();
  });

  it("equals the compiled sources, byte by byte (after a change of a contract, run npm run contracts:update)", async () => {
    expect(await compareGenerated(BUILD_OUTPUT, GENERATED)).to.deep.equal([]);
  });
});
