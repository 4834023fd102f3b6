import { parseArgs } from "node:util";

import { tryDefects } from "./defects.ts";
import { SERVER_DEFECTS } from "./server-defects.ts";

// `npm run test:mutation -- server [--only NAME]` plants small mistakes in a copy of the server, one at a time, and runs the tests
// that must notice them. It fails when one is not noticed, or when the text of one is no longer in the code.

const { values } = parseArgs({
  args: process.argv.slice(3),
  options: { only: { type: "string", multiple: true, default: [""] } },
});
const defects = SERVER_DEFECTS.filter(({ name }) => values.only.some((text) => name.includes(text)));
if (defects.length === 0) throw new Error(`No defect has ${values.only.join(" or ")} in its name.`);
const isEachFound = await tryDefects(process.cwd(), defects, (line) => {
  console.log(line);
});
process.exit(isEachFound ? 0 : 1);
