import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { sqliteFiles, startPostgres } from "../postgres/databases.ts";
import { ROOT } from "../scene/program.ts";
import { catchUp } from "./catch-up.ts";
import { exports } from "./exports.ts";
import { listing } from "./listing.ts";
import { media } from "./media.ts";
import { pipeline } from "./pipeline.ts";
import { addFigures, exceeds, ratioOf, type Row, tableOf } from "./report.ts";
import type { Scenario } from "./scenario.ts";
import { start } from "./start.ts";
import { wallets } from "./wallets.ts";

const SCENARIOS: Record<string, Scenario> = { pipeline, wallets, listing, exports, "catch-up": catchUp, media, start };

const HELP = `npm run bench [-- SCENARIO ...] [options]

Measures the service with all roles in one process. Everything listens on loopback.
Scenarios: ${Object.keys(SCENARIOS).join(", ")}. Default: all.

  --quick             smaller numbers, for a first look
  --checkout DIR      also measures the service of another version in that folder, in turns, and prints ratios
  --rounds N          measures each N times and prints the median (default: 1, with --checkout 3)
  --engine postgres   on a PostgreSQL server that the command starts
  --json FILE         also writes a file, after each round
  --cpu-prof FOLDER   also writes CPU profiles of the service

The exit code is 1 when a result is wrong or a limit is exceeded. A slow result is not an error.`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    checkout: { type: "string" },
    rounds: { type: "string" },
    engine: { type: "string", default: "sqlite" },
    json: { type: "string" },
    "cpu-prof": { type: "string" },
  },
});
if (options.help) {
  console.log(HELP);
  process.exit(0);
}
const other = options.checkout === undefined ? null : resolve(options.checkout);
const rounds = Number(options.rounds ?? (other === null ? 1 : 3));
const names = positionals.length === 0 ? Object.keys(SCENARIOS) : positionals;
const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name));
if (unknown !== undefined) stop(`There is no scenario "${unknown}".`);
if (!["sqlite", "postgres"].includes(options.engine)) stop("--engine must be sqlite or postgres.");
if (!Number.isInteger(rounds) || rounds < 1) stop("--rounds must be a whole number above 0.");
if (other !== null && !existsSync(join(other, "node_modules")))
  stop(`Install the packages in ${other} first (npm ci).`);
const profiles = options["cpu-prof"] === undefined ? null : resolve(options["cpu-prof"]);
if (profiles !== null) mkdirSync(profiles, { recursive: true });

const rows: Row[] = [];
const server = options.engine === "postgres" ? await startPostgres() : null;
try {
  for (const name of names) await measure(name);
} finally {
  await server?.stop();
}
console.log(tableOf(rows, other !== null));
for (const { what } of rows.filter(exceeds)) {
  console.error(`The limit of "${what}" is exceeded.`);
  process.exitCode = 1;
}

/** Measures the sides in turns, so that a slow moment of the machine affects both. */
async function measure(name: string): Promise<void> {
  const scenario = SCENARIOS[name];
  if (scenario === undefined) return;
  const lab = { databases: server ?? sqliteFiles, quick: options.quick, profiles };
  for (let round = 1; round <= rounds; round++) {
    console.error(`measuring ${name}, round ${round.toString()} of ${rounds.toString()} ...`);
    const ours = async () => {
      addFigures(rows, await scenario({ ...lab, checkout: ROOT }), "values");
    };
    const theirs = async () => {
      if (other !== null) addFigures(rows, await scenario({ ...lab, profiles: null, checkout: other }), "other");
    };
    const turns = round % 2 === 1 ? [theirs, ours] : [ours, theirs];
    for (const turn of turns) await turn();
    if (options.json !== undefined) writeFileSync(options.json, jsonOf(options.engine));
  }
}

function jsonOf(engine: string): string {
  const list = rows.map((row) => ({ engine, ...row, ratio: ratioOf(row) }));
  return `${JSON.stringify(list, null, 2)}\n`;
}

function stop(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}
