import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { endpointsTable } from "./endpoints-table.ts";
import { settingsTable } from "./settings-table.ts";

/** Writes what README.md says of the code between its markers; `--check` only tells whether it is up to date. */

const README = fileURLToPath(new URL("../../README.md", import.meta.url));

function replace(readme: string, name: string, table: string): string {
  const start = `<!-- ${name}: start, written by scripts/docs/main.ts -->\n`;
  const end = `<!-- ${name}: end -->`;
  const [from, to] = [readme.indexOf(start), readme.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`README.md lacks the markers of ${name}.`);
  return `${readme.slice(0, from + start.length)}\n${table}\n\n${readme.slice(to)}`;
}

const readme = readFileSync(README, "utf8");
const wanted = replace(replace(readme, "endpoints", endpointsTable()), "settings", settingsTable());
if (!process.argv.includes("--check")) {
  writeFileSync(README, wanted);
} else if (readme !== wanted) {
  console.error("Tables in README.md are out of date. Write them: npx tsx scripts/docs/main.ts");
  process.exitCode = 1;
}
