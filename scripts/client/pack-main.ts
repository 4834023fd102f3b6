import { mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";

import { packClient, packStarter } from "./pack.ts";

/** `npm run client:pack [-- FOLDER]`: writes the packages that apps use: the client, and the start of an app. */
const folder = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../../dist"));
mkdirSync(folder, { recursive: true });
for (const pack of [packClient, packStarter]) console.log(relative(process.cwd(), await pack(folder)));
