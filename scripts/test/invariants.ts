import { parseArgs } from "node:util";

import hre from "hardhat";
import { z } from "zod";

import { quickBuild } from "./quick-build.ts";

// `npm run test:contracts -- --invariants` runs the Solidity fuzz tests and invariants in their long form. `npx hardhat test` runs the short
// form, which is set in hardhat.config.ts. With `--seconds N`, each of these tests ends after N seconds with what it has
// done by then, and the last lines say how much that was. With `--quick`, on contracts that are compiled quickly, as in `npm test`.

const FUZZ_RUNS = 10_000;
const [RUNS, DEPTH] = [500, 500];

const suites = z.object({
  suiteResults: z.array(
    z.object({
      id: z.object({ name: z.string() }),
      testResults: z.array(
        z.object({ name: z.string(), kind: z.object({ runs: z.bigint().optional(), calls: z.bigint().optional() }) }),
      ),
    }),
  ),
});
const outcome = z.discriminatedUnion("success", [
  z.object({ success: z.literal(true), value: suites }),
  z.object({ success: z.literal(false) }),
]);

const { values } = parseArgs({ options: { seconds: { type: "string" }, quick: { type: "boolean" } } });
if (values.seconds !== undefined && !/^[1-9]\d*$/.test(values.seconds)) {
  throw new Error(`--seconds must be a positive integer, not "${values.seconds}".`);
}
const budget = values.seconds === undefined ? {} : { timeout: Number(values.seconds) };

const hardhat = values.quick === true ? await quickBuild() : hre;
const profile = hardhat.config.test.solidity.profiles["default"];
if (profile === undefined) throw new Error("Hardhat has no default profile for Solidity tests.");
profile.invariant = { ...profile.invariant, runs: RUNS, depth: DEPTH, ...budget };
profile.fuzz = { ...profile.fuzz, runs: FUZZ_RUNS, ...budget };

const limit = values.seconds === undefined ? "" : `; each test ends after ${values.seconds} s`;
console.log(`Invariants: ${RUNS} runs of ${DEPTH} calls each; fuzz tests: ${FUZZ_RUNS} runs${limit}.`);
const result = outcome.parse(await hardhat.tasks.getTask(["test", "solidity"]).run());
process.exit(result.success && sayHowMuch(result.value) ? 0 : 1);

/** @returns false when a test completed no run: its success proves nothing. */
function sayHowMuch({ suiteResults }: z.infer<typeof suites>): boolean {
  const tests = suiteResults.flatMap(({ id, testResults }) =>
    testResults.map(({ name, kind }) => ({ name: `${id.name}.${name}`, runs: kind.runs, calls: kind.calls })),
  );
  for (const { name, runs, calls } of tests) {
    if (runs === undefined) continue;
    console.log(`${name}: ${runs} runs${calls === undefined ? "" : `, ${calls} calls`}`);
    if (runs === 0n) console.log(`${name} ended before its first run was complete: raise --seconds.`);
  }
  return tests.every(({ runs }) => runs !== 0n);
}
