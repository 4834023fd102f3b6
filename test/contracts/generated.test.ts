import { expect } from "chai";
import hre from "hardhat";

import { BUILD_OUTPUT, builtFiles, GENERATED } from "../../scripts/contracts/generated.ts";
import { differences } from "../../scripts/scene/committed-files.ts";
import { standardInputOf } from "../../scripts/contracts/standard-input.ts";

describe("contracts/generated", () => {
  before(function () {
    // Code instrumented for coverage is not what is deployed.
    if (hre.globalOptions.coverage) this.skip();
  });

  it("equals the compiled sources, byte by byte (after a change of a contract, run npm run contracts:update)", async () => {
    const built = await builtFiles(BUILD_OUTPUT, await standardInputOf(hre.config.paths.artifacts));
    expect(await differences(built, GENERATED, "generated")).to.deep.equal([]);
  });
});
