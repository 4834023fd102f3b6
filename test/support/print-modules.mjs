// Loaded before a program: prints a line for each package, and for each folder of api/ and room of content, from which the program loads a module.
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";

const printed = new Set();

registerHooks({
  load(url, context, next) {
    const [, own] = /\/(api\/(?:content\/(?:copy|node|store)|[^/]+))\/(?!.*node_modules)/.exec(url) ?? [];
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
    const from = name ?? own;
    if (from !== undefined && !printed.has(from)) {
      printed.add(from);
      writeSync(2, `loads ${from}\n`);
    }
    return next(url, context);
  },
});
