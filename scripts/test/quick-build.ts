import { createHardhatRuntimeEnvironment } from "hardhat/hre";

import config from "../../hardhat.config.ts";
import { ROOT } from "../scene/program.ts";

/**
 * Hardhat with the contracts compiled by the profile "quick", in folders of its own: `types` has bytecode, which other tests
 * deploy meanwhile. `npm test` and CI run the tests in Solidity in it: they try rules with random calls, and the rules hold in
 * any form. `npx hardhat test` and `npm run test:contracts -- --invariants` run them on the contracts as they are deployed, and so do the Mocha
 * tests everywhere.
 */
export function quickBuild() {
  return createHardhatRuntimeEnvironment(
    {
      ...config,
      paths: { ...config.paths, cache: "cache/quick", artifacts: "cache/quick/artifacts" },
      typechain: { outDir: "cache/quick/types" },
    },
    { buildProfile: "quick" },
    ROOT,
  );
}
