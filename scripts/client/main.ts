import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { clientTypes } from "./types.ts";

/** `npm run update -- client`: generates the types of the client. With `--check` it compares them. */
const file = fileURLToPath(new URL("../../client/document.ts", import.meta.url));
const types = await clientTypes();
if (!process.argv.includes("--check")) writeFileSync(file, types);
else if (readFileSync(file, "utf8") !== types) {
  console.error("client/document.ts does not match the API. Run `npm run update -- client` and commit it.");
  process.exitCode = 1;
}
