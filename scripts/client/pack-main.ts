import { mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";

import { packClient } from "./pack.ts";

/** `npm run client:pack [-- FOLDER]`: writes the client as a package that `npm install` takes. */
const folder = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../../dist"));
mkdirSync(folder, { recursive: true });
console.log(relative(process.cwd(), await packClient(folder)));
