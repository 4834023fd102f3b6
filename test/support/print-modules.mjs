// Loaded before a program: prints a line for each package, and for each folder of api/ and room of content, from which the program loads a module.
import { writeSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";

const thread = isMainThread ? "main" : "worker";
const printed = new Set();

registerHooks({
  load(url, context, next) {
    const [, own] = /\/(api\/(?:content\/(?:copy|node|store)|[^/]+))\/(?!.*node_modules)/.exec(url) ?? [];
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
    const from = name ?? own;
    if (from !== undefined && !printed.has(from)) {
      printed.add(from);
      // Standard error as it is: that of a thread would be written by the main thread, later.
      writeSync(2, `${thread} loads ${from}\n`);
    }
    return next(url, context);
  },
});
