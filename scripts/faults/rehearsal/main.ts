import { rehearseAlerts } from "./alerts.ts";
import { rehearseFirstHour } from "./first-hour.ts";
import { rehearseProduction } from "./production.ts";
import type { Finding } from "./tools.ts";

/**
 * `npm run rehearse [-- PART ...]`: tries what the documents say about production with the programs that are installed here:
 * Prometheus' tool, PgBouncer and nginx. It says what it could not try, and fails when that is all of a part that was named. It uses a
 * chain, a database and keys of its own. `first-hour` is what a new user does, with the commands of docs/first-hour.md and their seconds.
 */
const PARTS: Record<string, () => Promise<Finding[]>> = {
  alerts: rehearseAlerts,
  production: rehearseProduction,
  "first-hour": rehearseFirstHour,
};
/** Runs only when it is named: it installs all packages again. */
const LONG = "first-hour";

const names = process.argv.slice(2);
const unknown = names.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
console.log("| What | Result |\n|---|---|");
for (const [name, rehearse] of Object.entries(PARTS)) {
  if (names.length > 0 ? !names.includes(name) : name === LONG) continue;
  try {
    const findings = await rehearse();
    for (const { what, result } of findings) console.log(`| ${what} | ${result ?? "not tried"} |`);
    if (!names.includes(name) || findings.some(({ result }) => result !== null)) continue;
    console.error(
      `Nothing of "${name}" was tried. Install the programs that it needs, which are named above, and run it again.`,
    );
    process.exitCode = 1;
  } catch (error) {
    console.log(`| ${name} | failed |`);
    console.error(error);
    process.exitCode = 1;
  }
}
