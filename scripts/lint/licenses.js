import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { z } from "zod";
/**
 * Checks the licence of every package in a lock file: `node scripts/lint/licenses.ts [package-lock.json]`. The service is under
 * the MIT licence, and so must be free of conditions for those who pass it on.
 */
/** Licences that ask for no more than their text. */
const ALLOWED = [
    "0BSD",
    "Apache-2.0",
    "BlueOak-1.0.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Python-2.0",
    "Unlicense",
    "WTFPL",
];
/** For packages that only develop the service, and are passed on to nobody. */
const ALLOWED_FOR_DEVELOPMENT = ["Apache-2.0 WITH LLVM-exception", "MPL-2.0"];
/** Packages whose manifest names no licence in the form of SPDX, and the one that their files have. */
const READ_BY_HAND = { "@nomicfoundation/ignition-ui": "MIT", memorystream: "MIT" };
const lockFile = z.object({
    packages: z.record(z.string(), z.object({ license: z.string().optional(), dev: z.boolean().optional() })),
});
/** Whether an expression of SPDX leaves a choice that is allowed. It may have `OR`, or else `AND`. */
function isAllowed(expression, allowed) {
    const plain = expression.replace(/^\((.*)\)$/, "$1");
    return plain.includes(" AND ")
        ? plain.split(" AND ").every((one) => allowed.includes(one))
        : plain.split(" OR ").some((one) => allowed.includes(one));
}
const path = resolve(process.argv[2] ?? "package-lock.json");
const { packages } = lockFile.parse(JSON.parse(readFileSync(path, "utf8")));
for (const [place, { license, dev = false }] of Object.entries(packages)) {
    if (place === "")
        continue;
    const name = place.replace(/^.*node_modules\//, "");
    const known = license ?? READ_BY_HAND[name] ?? "none";
    if (isAllowed(known, dev ? [...ALLOWED, ...ALLOWED_FOR_DEVELOPMENT] : ALLOWED))
        continue;
    console.log(`${name} has the licence ${known}, which is not on the list of scripts/lint/licenses.ts.`);
    process.exitCode = 1;
}
