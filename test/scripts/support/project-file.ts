import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../../support/process.ts";

/** The text of a file of the project. */
export function projectFile(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
