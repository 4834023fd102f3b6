import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Program, ROOT } from "../../scene/program.ts";
const run = promisify(execFile);
/** Milliseconds for the whole start, downloads included. */
const DEADLINE = 600_000;
/** Milliseconds after which a process that was told to stop is killed. */
const STOP_DEADLINE = 30_000;
/** Lines of `npm start` that end a part of it. */
const MARKS = [
    { part: "install the packages (npm ci)", line: /^moneta: the packages are installed/m },
    { part: "compile and load the first TypeScript", line: /^Starting a local chain and the service/m },
    { part: "start the local chain, compile and load the service meanwhile, start it", line: /^Started a local chain/m },
    { part: "the tour", line: /^Moneta is ready/m },
];
const CONTRACTS = "compile the contracts (npm run build, for tests only)";
const ALL = "from the command to the end of the tour";
/** `npm start` in a fresh clone of the last commit, split into its parts. Needs git, and npm's registry. */
export const clone = { name: "clone", measure };
async function measure({ quick }) {
    if (quick)
        return notMeasured("Only the full form measures it, because it downloads all packages.");
    const folder = await mkdtemp(join(tmpdir(), "moneta-clone-"));
    try {
        const project = join(folder, "moneta");
        // The compile cache may be in the folder for temporary files. A fresh machine has none.
        await mkdir(join(folder, "tmp"));
        const env = { ...cleanEnvironment(), TMPDIR: join(folder, "tmp") };
        await run("git", ["clone", "--quiet", ROOT, project]);
        const rows = await start(project, env);
        const begun = performance.now();
        await run("npm", ["run", "--silent", "build"], { cwd: project, env, timeout: DEADLINE });
        return [...rows, seconds(CONTRACTS, (performance.now() - begun) / 1000)];
    }
    catch (error) {
        return notMeasured(`It failed: ${error.message.trim().split("\n").slice(-3).join(" ")}`);
    }
    finally {
        await rm(folder, { recursive: true, force: true });
    }
}
async function start(project, env) {
    const begun = performance.now();
    const npm = new Program(["start"], { command: "npm", cwd: project, env });
    try {
        const ends = [];
        for (const { line } of MARKS) {
            await npm.printed(line, DEADLINE - (performance.now() - begun));
            ends.push(performance.now());
        }
        const times = ends.map((end, index) => (end - (ends[index - 1] ?? begun)) / 1000);
        return [
            seconds(ALL, ((ends.at(-1) ?? NaN) - begun) / 1000),
            ...MARKS.map(({ part }, index) => seconds(part, times[index] ?? NaN)),
        ];
    }
    finally {
        await npm.end("SIGTERM", STOP_DEADLINE);
    }
}
/** Without what `npm run bench` tells its own scripts, and with ports that are free. */
function cleanEnvironment() {
    const foreign = /^(npm_(lifecycle|package|config_local_prefix|execpath|node_execpath|command)|INIT_CWD|NODE$)/;
    const kept = Object.entries(process.env).filter(([name]) => !foreign.test(name));
    return { ...Object.fromEntries(kept), NO_COLOR: "1", PORT: "0", RPC_PORT: "0", METRICS_PORT: "0", CI: "true" };
}
function seconds(part, measured) {
    return { what: `npm start from a fresh clone: ${part}`, unit: "s", measured };
}
function notMeasured(note) {
    return [{ what: `npm start from a fresh clone`, unit: "s", measured: null, note }];
}
