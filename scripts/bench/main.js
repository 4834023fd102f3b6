import { mkdirSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { sqliteFiles, startPostgres } from "./harness/databases.ts";
import { isWrong, meetsGoal, notesOf, ratioOf, tableOf } from "./harness/row.ts";
import { usageOf } from "./harness/usage.ts";
import { allParts, partsNamed } from "./parts.ts";
/**
 * `npm run bench [-- PART ...] [--quick] [--engine postgres] [--json FILE] [--cpu-prof FOLDER]`: measures the service. A
 * figure has a baseline from the same run, on the same machine, with the same node, where there is one. Compare the
 * ratios: absolute figures depend on the machine. Everything listens on loopback. A slow result is reported and is not an
 * error. A required limit that is exceeded, such as that of memory, is one: the exit code is then 1.
 */
const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
        // Smaller numbers, for a first look.
        quick: { type: "boolean", default: false },
        json: { type: "string" },
        // "postgres": on a PostgreSQL server of the benchmark's own.
        engine: { type: "string", default: "sqlite" },
        // Parts that can do so write CPU profiles of the service, and print the cost of each package.
        "cpu-prof": { type: "string" },
    },
});
if (values.engine !== "sqlite" && values.engine !== "postgres") {
    console.error("--engine must be sqlite or postgres");
    process.exit(2);
}
const profiles = values["cpu-prof"] === undefined ? null : resolve(values["cpu-prof"]);
if (profiles !== null)
    mkdirSync(profiles, { recursive: true });
const measured = [];
const parts = chosenParts();
const server = values.engine === "postgres" ? await startPostgres() : null;
try {
    for (const part of parts) {
        console.error(`measuring ${part.name} ...`);
        const started = performance.now();
        const rows = await part.measure({ quick: values.quick, profiles, databases: server ?? sqliteFiles });
        measured.push({ part: part.name, rows });
        console.error(`measured ${part.name} in ${((performance.now() - started) / 1_000).toFixed(0)} s`);
        // Written after each part, so that a later failure loses nothing.
        if (values.json !== undefined)
            writeFileSync(values.json, jsonOf(measured));
    }
}
finally {
    await server?.stop();
}
const table = measured.flatMap(({ rows }) => rows);
console.log(tableOf(table));
const notes = notesOf(table);
if (notes.length > 0)
    console.log(`\n${notes.join("\n")}`);
for (const { what, usage } of table) {
    if (usage !== undefined)
        console.log(`\nfor each of "${what}":\n${usageOf(usage)}`);
}
for (const { what } of table.filter(isWrong)) {
    console.error(`\nThe limit of "${what}" is exceeded.`);
    process.exitCode = 1;
}
function chosenParts() {
    try {
        return positionals.length === 0 ? allParts() : [...new Set(positionals.flatMap(partsNamed))];
    }
    catch (error) {
        console.error(error.message);
        process.exit(2);
    }
}
function jsonOf(parts) {
    const rows = parts.flatMap(({ part, rows }) => rows.map(({ what, unit, measured: figure, baseline = null, goal = null, ...more }) => {
        const row = { what, unit, measured: figure, baseline, goal, ...more };
        return { part, engine: values.engine, ...row, ratio: ratioOf(row), met: meetsGoal(row) };
    }));
    return `${JSON.stringify(rows, null, 2)}\n`;
}
