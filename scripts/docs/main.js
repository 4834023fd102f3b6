import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { documentsWithTables, withTables } from "./tables.ts";
// Generates tables from the code and writes them between their markers in the documents.
for (const file of documentsWithTables()) {
    const path = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    writeFileSync(path, withTables(file, readFileSync(path, "utf8")));
}
