import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { endpointsTable } from "./endpoints-table.ts";
import { errorsList } from "./errors-list.ts";
import { metricsTable } from "./metrics-table.ts";
import { firstSettingsTable, settingsTable } from "./settings-table.ts";

/**
 * Generates tables from the code and writes them between their markers in README.md and docs/.
 * `--check` changes nothing and fails when a table is out of date.
 */

const TABLES: { file: string; marker: string; table: () => string }[] = [
  { file: "docs/api.md", marker: "endpoints", table: endpointsTable },
  { file: "README.md", marker: "settings", table: firstSettingsTable },
  { file: "docs/errors.md", marker: "errors", table: errorsList },
  { file: "docs/operations.md", marker: "metrics", table: metricsTable },
  { file: "docs/settings.md", marker: "settings", table: settingsTable },
];

function replace(text: string, { file, marker, table }: (typeof TABLES)[number]): string {
  const start = `<!-- ${marker}: start, written by scripts/docs/main.ts -->\n`;
  const end = `<!-- ${marker}: end -->`;
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to < from) throw new Error(`${file} lacks the markers of the table "${marker}".`);
  return `${text.slice(0, from + start.length)}\n${table()}\n\n${text.slice(to)}`;
}

for (const file of new Set(TABLES.map((table) => table.file))) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const present = readFileSync(path, "utf8");
  const wanted = TABLES.filter((table) => table.file === file).reduce(replace, present);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, wanted);
  } else if (present !== wanted) {
    console.error(`Tables in ${file} are out of date. Write them: npm run docs:update`);
    process.exitCode = 1;
  }
}
