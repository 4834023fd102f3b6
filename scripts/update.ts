import { parseArgs } from "node:util";

import { runInherited } from "./scene/run-inherited.ts";

/**
 * `npm run update [-- NAME ...] [--check]`: writes generated files again. With `--check` it writes nothing, and fails unless the
 * committed files are what would be written.
 */

interface Update {
  what: string;
  /** Arguments of Node. */
  run: readonly string[];
  env?: Record<string, string>;
  /** Whether it can check instead of write, and runs without a name. */
  usual?: true;
}

const UPDATES: Record<string, Update> = {
  contracts: { what: "contracts/generated", run: ["scripts/contracts/main.ts"], usual: true },
  client: { what: "the types of the client", run: ["scripts/client/main.ts"], usual: true },
  docs: { what: "the generated tables of the documents", run: ["scripts/docs/main.ts"], usual: true },
  console: { what: "console/built", run: ["scripts/console/main.ts"], usual: true },
  gas: {
    what: "the gas snapshot",
    run: ["node_modules/hardhat/dist/src/cli.js", "test", "mocha", "--no-compile", "--grep", "Gas"],
    env: { UPDATE_GAS: "1" },
  },
  proof: {
    what: "scripts/prove/proved.json; also checks that planted defects are refused (ten minutes)",
    run: ["scripts/test/main.ts", "--long", "scripts/prove/prove"],
    env: { PROVE: "all" },
  },
  fixtures: {
    what: "test/fixtures of this version; needs Anvil and pg_dump",
    run: ["scripts/upgrade/make-fixtures.ts"],
  },
  screenshots: { what: "docs/images/console", run: ["scripts/console/screenshots.ts"] },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { check: { type: "boolean", default: false } },
});
const names =
  positionals.length > 0 ? positionals : Object.keys(UPDATES).filter((name) => UPDATES[name]?.usual === true);
const wrong = names.filter((name) => UPDATES[name] === undefined || (values.check && UPDATES[name].usual !== true));
if (wrong.length > 0) {
  const list = Object.entries(UPDATES).map(([name, { what, usual }]) => {
    return `  ${name.padEnd(12)} ${what}${usual === true ? "" : " (only by name, without --check)"}`;
  });
  console.error(`npm run update cannot do this: ${wrong.join(", ")}. It knows:\n${list.join("\n")}`);
  process.exit(2);
}
for (const name of names) {
  const { run = [], env = {} } = UPDATES[name] ?? {};
  console.log(`${values.check ? "checking" : "updating"} ${name} ...`);
  const code = await runInherited([...run, ...(values.check ? ["--check"] : [])], env);
  if (code !== 0) process.exitCode = code;
}
