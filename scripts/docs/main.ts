import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { documentsWithTables, withTables } from "./tables.ts";

/**
 * Generates tables from the code and writes them between their markers in the documents.
 * `--check` changes nothing and fails when a table is out of date.
 */

for (const file of documentsWithTables()) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const present = readFileSync(path, "utf8");
  const wanted = withTables(file, present);
  if (!process.argv.includes("--check")) {
    writeFileSync(path, wanted);
  } else if (present !== wanted) {
    console.error(`Tables in ${file} are out of date. Write them: npm run docs:update`);
    process.exitCode = 1;
  }
}
