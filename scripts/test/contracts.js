import { join } from "node:path";
import hre from "hardhat";
import { z } from "zod";
import { quickBuild } from "./quick-build.ts";
// Runs what `hardhat test` runs, and sends the results to the process that started this one. The output of `hardhat test` itself
// cannot be used: its sum counts Mocha's skipped tests as passed.
const quick = await quickBuild();
const suites = z.object({
    suiteResults: z.array(z.object({
        testResults: z.array(z.object({
            name: z.string(),
            status: z.enum(["Success", "Failure", "Skipped"]),
            reason: z.string().optional(),
        })),
    })),
});
const solidityResult = z.discriminatedUnion("success", [
    z.object({ success: z.literal(true), value: suites }),
    z.object({ success: z.literal(false), error: suites }),
]);
const mochaResult = z.object({ success: z.boolean() });
function countSolidity(result, seconds) {
    const { suiteResults } = result.success ? result.value : result.error;
    const tests = suiteResults.flatMap(({ testResults }) => testResults);
    const named = (wanted) => tests.filter(({ status }) => status === wanted);
    const failures = named("Failure").map(({ name, reason }) => ({ title: name, text: `  ${name}: ${reason ?? ""}` }));
    return {
        path: "test/contracts/**/*.t.sol",
        seconds,
        passed: named("Success").length,
        failed: failures.length,
        skipped: named("Skipped").length,
        failures,
    };
}
hre.config.test.mocha.reporter = join(import.meta.dirname, "reporter.cjs");
hre.config.test.mocha.forbidOnly = true;
const began = performance.now();
const solidity = solidityResult.parse(await quick.tasks.getTask(["test", "solidity"]).run());
const file = countSolidity(solidity, (performance.now() - began) / 1000);
await new Promise((resolve) => process.send?.({ file }, resolve));
// The runner has compiled what they use. Hardhat would compile the tests in Solidity again, as the contracts are deployed: a minute.
const mocha = mochaResult.parse(await hre.tasks.getTask(["test", "mocha"]).run({ noCompile: true }));
// A handle that a test left open must not keep this process running. What was sent before arrives before the end.
process.disconnect();
process.exit(solidity.success && mocha.success ? 0 : 1);
