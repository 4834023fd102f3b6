import { globSync, readFileSync } from "node:fs";

import { runInherited } from "../scene/run-inherited.ts";

/**
 * `npm run test:contracts [-- OPTION]`: the tests of the contracts. Without an option, what `npx hardhat test` runs.
 * `--long`: the Mocha tests that have a long form. `--hardforks`: the Mocha tests under the rules of Prague and of Amsterdam.
 * `--coverage`: coverage of statements. `--invariants [--quick] [--seconds N]`: the Solidity tests in their long form.
 */
const [option, ...more] = process.argv.slice(2);
const HARDHAT = "node_modules/hardhat/dist/src/cli.js";
const MOCHA = [HARDHAT, "test", "mocha", "--no-compile"];

const FORMS: Record<string, () => Promise<number>> = {
  "--long": () => runInherited([...MOCHA, ...withLongForm()], { TEST_RUNS: "long" }),
  "--hardforks": async () =>
    (await runInherited(MOCHA, { HARDFORK: "prague" })) || runInherited(MOCHA, { HARDFORK: "amsterdam" }),
  "--coverage": () => runInherited([HARDHAT, "test", "mocha", "--coverage"]),
  "--invariants": () => runInherited(["scripts/test/invariants.ts", ...more]),
};

process.exitCode = await (FORMS[option ?? ""]?.() ?? runInherited([HARDHAT, "test", ...process.argv.slice(2)]));

function withLongForm(): string[] {
  return globSync("test/contracts/**/*.test.ts").filter((file) =>
    readFileSync(file, "utf8").includes("support/runs.ts"),
  );
}
