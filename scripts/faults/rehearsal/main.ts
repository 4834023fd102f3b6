import { parseArgs } from "node:util";

import { output, programAt } from "../../scene/system.ts";
import { rehearseMovingIn } from "./moving-in.ts";
import { type Finding, notInstalled, rehearseProduction, require } from "./production.ts";

/**
 * `npm run rehearse [-- PART ...]`: tries what the documents say about production with the programs that are installed here:
 * Prometheus' tool, PgBouncer, nginx and Caddy. It says what it could not try, and fails when that is all of a part that was named. It
 * uses a chain, a database and keys of its own.
 *
 * `npm run rehearse -- moving-in --kills` kills the working process in the middle of each step, and continues.
 * `npm run rehearse -- moving-in --tokens 100000` measures a contract with so many tokens. Both also with `--engine postgres`.
 */
const { values: options, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    kills: { type: "boolean", default: false },
    tokens: { type: "string" },
    engine: { type: "string", default: "sqlite" },
  },
});
const PARTS: Record<string, (report: (finding: Finding) => void) => Promise<void>> = {
  alerts: async (report) => {
    (await rehearseAlerts()).forEach(report);
  },
  "moving-in": (report) => {
    const engine = options.engine === "postgres" ? "postgres" : "sqlite";
    const tokens = options.tokens === undefined ? null : Number(options.tokens);
    return rehearseMovingIn({ engine, kills: options.kills, tokens }, report);
  },
  production: async (report) => {
    (await rehearseProduction()).forEach(report);
  },
};

const unknown = names.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`Unknown: ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(2);
}
if (!["sqlite", "postgres"].includes(options.engine) || !/^(?:[1-9]\d*00)?$/.test(options.tokens ?? "")) {
  console.error("--engine must be sqlite or postgres, and --tokens a multiple of 100.");
  process.exit(2);
}
console.log("| What | Result |\n|---|---|");
for (const [name, rehearse] of Object.entries(PARTS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    const findings: Finding[] = [];
    await rehearse((finding) => {
      findings.push(finding);
      console.log(`| ${finding.what} | ${finding.result ?? "not tried"} |`);
    });
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

/** Prometheus' own tool reads the alert rules, and evaluates each with series that make it fire and that do not. */
async function rehearseAlerts(): Promise<Finding[]> {
  const promtool = programAt("promtool");
  if (promtool === null) return [notInstalled("alert rules", "promtool", "prometheus")];
  const checked = await output(promtool, ["check", "config", "prometheus.yml"], "ops");
  const rules = /SUCCESS: (\d+) rules found/.exec(checked)?.[1];
  require(rules !== undefined, checked);
  const tested = await output(promtool, ["test", "rules", "alerts.test.yml"], "ops");
  require(tested.endsWith("SUCCESS"), tested);
  return [
    { what: "promtool check config ops/prometheus.yml", result: `valid, ${rules} rules` },
    { what: "promtool test rules ops/alerts.test.yml", result: "each rule fires, and stays quiet below its limit" },
  ];
}
