import { writeFileSync } from "node:fs";
import { join } from "node:path";

import hre from "hardhat";
import { z } from "zod";

import type { Counts } from "./counts.ts";

// Runs `hardhat test` and writes the counts to `solidity.json` and `contracts.json` in the given folder. The output of
// `hardhat test` itself cannot be used: its sum counts Mocha's skipped tests as passed.

const suites = z.object({
  suiteResults: z.array(
    z.object({
      testResults: z.array(z.object({ name: z.string(), status: z.enum(["Success", "Failure", "Skipped"]) })),
    }),
  ),
});
const solidityResult = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true), value: suites }),
  z.object({ success: z.literal(false), error: suites }),
]);
const mochaResult = z.object({ success: z.boolean() });

function countSolidity(result: z.infer<typeof solidityResult>): Counts {
  const { suiteResults } = result.success ? result.value : result.error;
  const tests = suiteResults.flatMap(({ testResults }) => testResults);
  const named = (wanted: (typeof tests)[number]["status"]) =>
    tests.filter(({ status }) => status === wanted).map(({ name }) => name);
  const failures = named("Failure");
  return {
    passed: named("Success").length,
    failed: failures.length,
    skipped: named("Skipped").length,
    failures,
  };
}

const folder = process.argv[2];
if (folder === undefined) throw new Error("usage: contracts.ts <folder for the counts>");

hre.config.test.mocha.reporter = "scripts/test/reporter.cjs";
hre.config.test.mocha.reporterOptions = { counts: join(folder, "contracts.json") };
hre.config.test.mocha.forbidOnly = true;

const solidity = solidityResult.parse(await hre.tasks.getTask(["test", "solidity"]).run());
writeFileSync(join(folder, "solidity.json"), JSON.stringify(countSolidity(solidity)));
const mocha = mochaResult.parse(await hre.tasks.getTask(["test", "mocha"]).run());
// A handle that a test left open must not keep this process running.
process.exit(solidity.success && mocha.success ? 0 : 1);
