import { mkdirSync } from "node:fs";
import { relative, resolve } from "node:path";
import { packClient, packStarter } from "./pack.ts";
import { SIZE_LIMITS, sizeOfClient } from "./size.ts";
/**
 * `npm run client:pack [-- FOLDER]`: writes the packages that apps use: the client, and the start of an app. Prints what to run with
 * them. It fails when the client is larger than its limits.
 */
const folder = resolve(process.argv[2] ?? resolve(import.meta.dirname, "../../dist"));
mkdirSync(folder, { recursive: true });
const client = await packClient(folder);
const starter = await packStarter(folder);
console.log(`Written:
  ${relative(process.cwd(), client)}
  ${relative(process.cwd(), starter)}

In an app of yours:
  npm install ${client}
To begin a new app:
  npm exec --yes --package=${starter} -- create-moneta-app my-app --client ${client}`);
const size = await sizeOfClient(client, "./entry.ts", resolve(import.meta.dirname, "../../client"));
if (size.packed > SIZE_LIMITS.packed || size.browser > SIZE_LIMITS.browser) {
    console.error(`The client is too large: ${size.packed.toString()} bytes packed, of at most ${SIZE_LIMITS.packed.toString()}, and ` +
        `${size.browser.toString()} bytes in a browser (gzip), of at most ${SIZE_LIMITS.browser.toString()}.`);
    process.exitCode = 1;
}
