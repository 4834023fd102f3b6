import hre from "hardhat";

import { RELEASED_CODE } from "../../contracts/generated/released-code.ts";
import { differences } from "../scene/committed-files.ts";
import { nextVersion, releasedCodeOf } from "./deployed-code.ts";
import { BUILD_OUTPUT, builtFiles, GENERATED, updateGenerated } from "./generated.ts";
import { differingContracts, standardInputOf } from "./standard-input.ts";

/**
 * `npm run update -- contracts` compiles the contracts and writes contracts/generated. `npm run update -- contracts --check` compiles them
 * and fails unless contracts/generated has exactly these bytes, so that what is deployed is what was reviewed.
 */

const check = process.argv.includes("--check");

// What is written is compiled from scratch. A check takes what Hardhat has compiled from these sources with these settings: were
// that wrong, the bytes would differ.
console.log(check ? "Compiling what has changed." : "Compiling the contracts from scratch; this takes about a minute.");
await hre.tasks.getTask("build").run({ force: !check, noTests: true, quiet: true });
const { artifacts } = hre.config.paths;
const standardInput = await standardInputOf(artifacts);
const releasedCode = await releasedCodeOf(artifacts, RELEASED_CODE, await nextVersion("CHANGELOG.md"));
const built = await builtFiles(BUILD_OUTPUT, { standardInput, releasedCode });
if (check) {
  const problems = await differences(built, GENERATED, "generated");
  for (const problem of problems) console.error(`contracts/generated/${problem}`);
  if (problems.length === 0) console.log("contracts/generated matches the sources, byte by byte.");
  else
    console.error("contracts/generated does not match the sources. Run `npm run update -- contracts` and commit it.");
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  console.log("Compiling what verifiers get by itself: it must give the same bytecode.");
  const differing = await differingContracts(artifacts, standardInput);
  if (differing.length > 0)
    throw new Error(`Without the other sources, the bytecode of ${differing.join(", ")} differs.`);
  await updateGenerated(built, GENERATED);
  console.log("Wrote contracts/generated. Commit it together with the sources.");
}
