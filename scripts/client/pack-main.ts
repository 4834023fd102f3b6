import { mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";

import { packClient, packStarter } from "./pack.ts";
import { SIZE_LIMITS, sizeOfClient } from "./size.ts";

/**
 * `npm run client:pack [-- FOLDER]`: writes the packages that apps use: the client, and the start of an app. Prints the size of
 * the client, and fails when it is larger than its limits.
 */
const folder = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../../dist"));
mkdirSync(folder, { recursive: true });
const client = await packClient(folder);
for (const file of [client, await packStarter(folder)]) console.log(relative(process.cwd(), file));
const size = await sizeOfClient(client, "./entry.ts", resolve(import.meta.dirname, "../../client"));
console.log(
  `Client: ${size.packed.toString()} bytes packed, of at most ${SIZE_LIMITS.packed.toString()}. ` +
    `A browser loads ${size.browser.toString()} bytes gzip, of at most ${SIZE_LIMITS.browser.toString()}.`,
);
if (size.packed > SIZE_LIMITS.packed || size.browser > SIZE_LIMITS.browser) process.exitCode = 1;
