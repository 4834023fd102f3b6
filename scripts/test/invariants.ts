import hre from "hardhat";
import { z } from "zod";

// `npm run test:invariants` runs the Solidity fuzz tests and invariants in their long form. `npx hardhat test` runs the short
// form, which is set in hardhat.config.ts.

const result = z.object({ success: z.boolean() });
const [runs, depth] = [500, 500];

const profile = hre.config.test.solidity.profiles["default"];
if (profile === undefined) throw new Error("Hardhat has no default profile for Solidity tests.");
profile.invariant = { ...profile.invariant, runs, depth };
profile.fuzz = { ...profile.fuzz, runs: 10_000 };

console.log(`Invariants: ${runs} runs of ${depth} calls each; fuzz tests: ${profile.fuzz.runs} runs.`);
const { success } = result.parse(await hre.tasks.getTask(["test", "solidity"]).run());
process.exit(success ? 0 : 1);
