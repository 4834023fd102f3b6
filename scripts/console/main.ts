import { spawnSync } from "node:child_process";
import { gzipSync } from "node:zlib";

import { contentsOf } from "../scene/committed-files.ts";
import { BUILT, bundle, compareWithSources } from "./bundle.ts";

/**
 * `npm run update -- console` checks the types of the console and writes console/built. `npm run update -- console --check` builds into
 * a temporary folder and fails unless console/built has exactly these bytes. Both fail when the scripts are too large.
 */

/** Most bytes of all scripts together, compressed by gzip, without those that only one kind of screen loads. */
const MOST_SCRIPT_BYTES = 90_000;
/** The chunks of the libraries of charts and QR codes, which only the operator's screens load, and of the screens of webhooks. */
const OF_ONE_SCREEN = /^assets\/(plot|qr|webhooks)-[^/]*\.js$/;

/** @returns whether the types are right. */
function checkTypes(): boolean {
  const tsc = ["node_modules/typescript/bin/tsc", "--project", "console"];
  return spawnSync(process.execPath, tsc, { stdio: "inherit" }).status === 0;
}

async function run(check: boolean): Promise<boolean> {
  if (check) {
    const problems = await compareWithSources();
    for (const problem of problems) console.error(`console/built/${problem}`);
    if (problems.length > 0) {
      console.error("console/built does not match the sources. Run `npm run update -- console` and commit it.");
      return false;
    }
    console.log("console/built matches the sources, byte by byte.");
  } else {
    if (!checkTypes()) return false;
    await bundle(BUILT);
    console.log("Wrote console/built. Commit it together with the sources.");
  }
  const scripts = [...(await contentsOf(BUILT))].filter(([name]) => name.endsWith(".js"));
  const sizeOf = (counted: typeof scripts) => counted.reduce((sum, [, content]) => sum + gzipSync(content).length, 0);
  const bytes = sizeOf(scripts.filter(([name]) => !OF_ONE_SCREEN.test(name)));
  const more = sizeOf(scripts.filter(([name]) => OF_ONE_SCREEN.test(name)));
  console.log(
    `Scripts: ${bytes.toString()} bytes gzip, of at most ${MOST_SCRIPT_BYTES.toString()}. Charts, QR codes and the screens of webhooks load ${more.toString()} more.`,
  );
  return bytes <= MOST_SCRIPT_BYTES;
}

process.exitCode = (await run(process.argv.includes("--check"))) ? 0 : 1;
