import { writeFile } from "node:fs/promises";
import { anvilBinary } from "../scene/anvil.ts";
import { possibleFaults, runFaults } from "./campaign.ts";
import { HELP, parseOptions } from "./options.ts";
import { summarise, table } from "./report.ts";
import { soak } from "./soak.ts";
import { World } from "./world.ts";
/** Where no Anvil package exists, everything runs on Hardhat's node, without the faults that need Anvil. */
const NODES = anvilBinary() === null ? ["hardhat"] : ["anvil", "hardhat"];
/** A fault that never takes effect in so many runs is itself broken. */
const RUNS_TO_TAKE_EFFECT = 4;
/** `npm run campaign`: injects faults while the service is under load, and counts what is lost or duplicated. */
async function main() {
    const options = readOptions();
    if (options === null)
        return;
    const passed = options.soak === null ? await runCampaign(options) : await runSoak(options, options.soak);
    console.log(passed ? "1 passed, 0 failed" : "0 passed, 1 failed");
    process.exitCode = passed ? 0 : 1;
}
/** @returns null when there is nothing to run: the user asked for help, or an option is wrong. */
function readOptions() {
    try {
        const options = parseOptions(process.argv.slice(2));
        if (options === null)
            console.log(HELP);
        return options;
    }
    catch (error) {
        console.error(error instanceof Error ? error.message : error);
        console.error("See `npm run campaign -- --help`.");
        process.exitCode = 1;
        return null;
    }
}
async function runCampaign(options) {
    const { engine, seed, faults, only, json, hardfork, minutes } = options;
    const lines = new Map();
    const started = performance.now();
    const time = (minutes ?? Infinity) * 60_000;
    // Anvil does not know the rules of Amsterdam.
    const known = NODES.filter((kind) => (hardfork !== "amsterdam" || kind === "hardhat") && kind === (options.chain ?? kind));
    const nodes = known.filter((kind) => possibleFaults(kind, engine, only, options.nodes).length > 0);
    if (nodes.length === 0)
        throw new Error("no fault fits to the options; see scripts/campaign/faults.ts");
    for (const [index, kind] of nodes.entries()) {
        const first = nodes.length === 1 ? faults : Math.ceil((faults * 2) / 3);
        const share = index === 0 ? first : faults - first;
        // Each node gets its share of the time.
        await runFaults({ ...options, kind, seed: seed + index, faults: share, lines, time: (time * share) / faults });
    }
    console.log(table([...lines.values()]));
    const total = summarise([...lines.values()]);
    console.log(`${total.runs.toString()} faults, ${total.requests.toString()} requests: ` +
        `${total.lost.toString()} lost, ${total.duplicated.toString()} duplicated, ${total.wrong.toString()} settled wrongly, ${total.stuck.toString()} stuck, ` +
        `${total.other.toString()} other problems (seed ${seed.toString()}, ${((performance.now() - started) / 1000).toFixed(0)} s)`);
    if (json !== null) {
        await writeFile(json, `${JSON.stringify({ engine, seed, total, lines: [...lines.values()] }, null, 2)}\n`);
    }
    const idle = [...lines.values()].filter((line) => line.runs >= RUNS_TO_TAKE_EFFECT && line.injected === 0);
    for (const line of idle) {
        console.log(`"${line.fault}" took no effect in ${line.runs.toString()} runs, so it tests nothing: repair the fault`);
    }
    const problems = total.lost + total.duplicated + total.wrong + total.stuck + total.other;
    const enough = minutes === null ? total.runs >= faults : total.runs > 0;
    return idle.length === 0 && problems === 0 && enough;
}
async function runSoak({ seed, hardfork }, minutes) {
    const world = await World.create({ kind: "hardhat", engine: "sqlite", seed, hardfork });
    let passed = false;
    try {
        passed = await soak(world, minutes);
    }
    finally {
        if (!passed)
            console.log(`The database and the logs are kept in ${world.folder}`);
        await world.stop(!passed);
    }
    return passed;
}
await main();
