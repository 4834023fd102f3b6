import { parseArgs } from "node:util";
import { drill } from "./drill.ts";
const HELP = `Usage: npm run drill -- [--engine sqlite|postgres]

Backs up a service under load, kills it, deletes its data, restores, reconciles, starts it again, and checks every
promise. It uses a chain, a database and keys of its own, and touches nothing else.`;
/** `npm run drill` */
async function main() {
    const { values } = parseArgs({
        options: { engine: { type: "string", default: "sqlite" }, help: { type: "boolean" } },
    });
    if (values.help === true) {
        console.log(HELP);
        return 0;
    }
    const { engine } = values;
    if (engine !== "sqlite" && engine !== "postgres") {
        console.error("--engine must be sqlite or postgres");
        return 1;
    }
    const checks = await drill(engine, (line) => {
        console.log(line);
    });
    const held = checks.filter(({ holds }) => holds).length;
    console.log(`${held.toString()} of ${checks.length.toString()} promises hold`);
    return held === checks.length ? 0 : 1;
}
process.exitCode = await main();
