import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
/** The measured packages. They are not dependencies of the project: the benchmark installs them into a temporary folder. */
export const VERSIONS = { viem: "2.57.20", "graphile-worker": "0.18.0", "pg-boss": "12.38.0" };
/** Milliseconds for the installation. */
const DEADLINE = 120_000;
/** @returns why the packages cannot be installed, where they cannot. */
export async function installPackages() {
    const folder = await mkdtemp(join(tmpdir(), "moneta-peers-"));
    const names = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`);
    const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--loglevel", "error"];
    try {
        await promisify(execFile)("npm", ["install", "--prefix", folder, ...options, ...names], { timeout: DEADLINE });
    }
    catch (error) {
        await rm(folder, { recursive: true, force: true });
        const [line = ""] = error.message.split("\n");
        return `the packages cannot be installed from the registry (${line})`;
    }
    const { resolve } = createRequire(join(folder, "package.json"));
    return {
        load: async (name) => (await import(pathToFileURL(resolve(name)).href)),
        remove: () => rm(folder, { recursive: true, force: true }),
    };
}
