// Loaded before an example of a checkout. An example imports the package @moneta/client, as an app does; in a checkout, the
// package is not built, and this is its source.
import { registerHooks } from "node:module";

const source = new URL("../../client/entry.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@moneta/client" ? { url: source, shortCircuit: true } : next(specifier, context),
});
