import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { documentsWithTables, withTables } from "./tables.ts";

/** `npm run update -- docs`: generates tables from the code and writes them into the documents. With `--check` it compares them. */
for (const file of documentsWithTables()) {
  const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
  const present = readFileSync(path, "utf8");
  const text = withTables(file, present);
  if (!process.argv.includes("--check")) writeFileSync(path, text);
  else if (text !== present) {
    console.error(`The tables of ${file} do not match the code. Run \`npm run update -- docs\` and commit it.`);
    process.exitCode = 1;
  }
}
