// Loaded before an example of a checkout. An example imports the package @moneta/client, as an app does; in a checkout, the
// package is not built, and these are its sources.
import { registerHooks } from "node:module";

const SOURCES = {
  "@moneta/client": "entry.ts",
  "@moneta/client/bulk": "bulk-entry.ts",
  "@moneta/client/drop": "drop-entry.ts",
  "@moneta/client/drop-node": "drop-node-entry.ts",
};

registerHooks({
  resolve: (specifier, context, next) => {
    const file = SOURCES[specifier];
    if (file === undefined) return next(specifier, context);
    return { url: new URL(`../../client/${file}`, import.meta.url).href, shortCircuit: true };
  },
});
