import hre from "hardhat";

import { BUILD_OUTPUT, compareGenerated, GENERATED, updateGenerated } from "./generated.ts";

/**
 * `npm run contracts:update` compiles the contracts and writes contracts/generated. `npm run contracts:check` compiles them
 * and fails unless contracts/generated has exactly these bytes, so that what is deployed is what was reviewed.
 */

const check = process.argv.includes("--check");

// What is written is compiled from scratch. A check takes what Hardhat has compiled from these sources with these settings: were
// that wrong, the bytes would differ.
console.log(check ? "Compiling what has changed." : "Compiling the contracts from scratch; this takes about a minute.");
await hre.tasks.getTask("build").run({ force: !check, noTests: true, quiet: true });
if (check) {
  const problems = await compareGenerated(BUILD_OUTPUT, GENERATED);
  for (const problem of problems) console.error(`contracts/generated/${problem}`);
  if (problems.length === 0) console.log("contracts/generated matches the sources, byte by byte.");
  else console.error("contracts/generated does not match the sources. Run `npm run contracts:update` and commit it.");
  process.exitCode = problems.length === 0 ? 0 : 1;
} else {
  await updateGenerated(BUILD_OUTPUT, GENERATED);
  console.log("Wrote contracts/generated. Commit it together with the sources.");
}
