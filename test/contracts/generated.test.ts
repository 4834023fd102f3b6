import { expect } from "chai";
import hre from "hardhat";

import { RELEASED_CODE } from "../../contracts/generated/released-code.ts";
import { nextVersion, releasedCodeOf } from "../../scripts/contracts/deployed-code.ts";
import { BUILD_OUTPUT, builtFiles, GENERATED } from "../../scripts/contracts/generated.ts";
import { differences } from "../../scripts/scene/committed-files.ts";
import { standardInputOf } from "../../scripts/contracts/standard-input.ts";

describe("contracts/generated", () => {
  before(function () {
    // Code instrumented for coverage is not what is deployed.
    if (hre.globalOptions.coverage) this.skip();
  });

  it("equals the compiled sources, byte by byte (after a change of a contract, run npm run update -- contracts)", async () => {
    const { artifacts } = hre.config.paths;
    const texts = {
      standardInput: await standardInputOf(artifacts),
      releasedCode: await releasedCodeOf(artifacts, RELEASED_CODE, await nextVersion("CHANGELOG.md")),
    };
    const built = await builtFiles(BUILD_OUTPUT, texts);
    expect(await differences(built, GENERATED, "generated")).to.deep.equal([]);
  });
});
