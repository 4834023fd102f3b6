import { CommanderError } from "commander";

import { anvilBinary } from "../scene/anvil.ts";
import type { NodeKind } from "../scene/node.ts";
import { possibleFaults, runFaults, Totals } from "./campaign.ts";
import { drill } from "./drill.ts";
import { type Options, parseOptions } from "./options.ts";
import { runAttacks } from "./watch.ts";

/** Where no Anvil package exists, everything runs on Hardhat's node, without the faults that need Anvil. */
const NODES: NodeKind[] = anvilBinary() === null ? ["hardhat"] : ["anvil", "hardhat"];

/** `npm run campaign`: what goes wrong while the service is under load, and what is lost or doubled then. */
async function main(options: Options): Promise<void> {
  const { what, engine, only } = options;
  if (what === "drill") await drill(engine, console.log);
  const passed = what === "drill" || (await (what === "attacks" ? runAttacks(engine, only) : runCampaign(options)));
  console.log(passed ? "1 passed, 0 failed" : "0 passed, 1 failed");
  process.exitCode = passed ? 0 : 1;
}

/** Injects faults while the service is under load, and counts what is lost or duplicated. */
async function runCampaign(options: Options): Promise<boolean> {
  const { engine, seed, faults, only, hardfork, minutes } = options;
  const started = performance.now();
  const time = minutes * 60_000;
  const totals = new Totals();
  // Anvil does not know the rules of Amsterdam.
  const known = NODES.filter((kind) => hardfork !== "amsterdam" || kind === "hardhat");
  const nodes = known.filter((kind) => possibleFaults(kind, engine, only, options.nodes).length > 0);
  if (nodes.length === 0) throw new Error("no fault fits to the options; see scripts/faults/faults.ts");
  for (const [index, kind] of nodes.entries()) {
    const first = nodes.length === 1 ? faults : Math.ceil((faults * 2) / 3);
    const share = index === 0 ? first : faults - first;
    // Each node gets its share of the time.
    await runFaults({ ...options, kind, seed: seed + index, faults: share, totals, time: (time * share) / faults });
  }
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  console.log(`${totals.toString()} (seed ${seed.toString()}, ${seconds} s)`);
  const idle = totals.withoutEffect();
  for (const name of idle) console.log(`"${name}" took no effect, so it tests nothing: repair the fault`);
  const enough = minutes === Infinity ? totals.runs >= faults : totals.runs > 0;
  return idle.length === 0 && totals.isClean && enough;
}

try {
  await main(parseOptions(process.argv.slice(2)));
} catch (error) {
  // Commander has printed its help, or what is wrong.
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode;
}
