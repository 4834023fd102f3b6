import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { DEPLOYED } from "./generated.ts";
/** The standard JSON input of the deployed contracts, from what Hardhat keeps of a build. @returns JSON, and a line break. */
export async function standardInputOf(artifacts) {
    const builds = new Map();
    let compiler = "";
    const sources = {};
    let common = null;
    for (const name of DEPLOYED) {
        const { buildInfoId, inputSourceName } = await readArtifact(artifacts, name);
        const build = builds.get(buildInfoId) ?? (await readBuild(artifacts, buildInfoId));
        builds.set(buildInfoId, build);
        compiler = build.solcLongVersion;
        common = { language: build.input.language, settings: build.input.settings };
        for (const file of closureOf(inputSourceName, build))
            sources[file] = build.input.sources[file];
    }
    const sorted = Object.fromEntries(Object.entries(sources).sort(([one], [other]) => (one < other ? -1 : 1)));
    const input = { ...common, sources: sorted, settings: { ...common?.settings, outputSelection: SELECTION } };
    return `${JSON.stringify({ compiler, input }, null, 1)}\n`;
}
/** Verifiers ask the compiler for more by themselves. */
const SELECTION = { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object", "metadata"] } };
/**
 * Compiles the input by itself. @param standardInput see `standardInputOf`.
 * @returns the names of the contracts whose bytecode differs from that of the build, which has other sources beside them.
 */
export async function differingContracts(artifacts, standardInput) {
    const written = JSON.parse(standardInput);
    const solc = createRequire(import.meta.url)("solc");
    const { contracts } = JSON.parse(solc.compile(JSON.stringify(written.input)));
    const differing = [];
    for (const name of DEPLOYED) {
        const { bytecode, inputSourceName } = await readArtifact(artifacts, name);
        if (`0x${contracts[inputSourceName]?.[name]?.evm.bytecode.object ?? ""}` !== bytecode)
            differing.push(name);
    }
    return differing;
}
async function readArtifact(artifacts, name) {
    return readJson(join(artifacts, "contracts", `${name}.sol`, `${name}.json`));
}
async function readBuild(artifacts, id) {
    const file = join(artifacts, "build-info", id);
    const build = await readJson(`${file}.json`);
    const { output } = await readJson(`${file}.output.json`);
    const imports = Object.entries(output.sources).map(([path, { ast }]) => [
        path,
        ast.nodes.flatMap(({ nodeType, absolutePath }) => nodeType === "ImportDirective" && absolutePath !== undefined ? [absolutePath] : []),
    ]);
    return { ...build, imports: new Map(imports) };
}
/** A file and all that it imports. */
function closureOf(file, { imports }) {
    const found = new Set();
    const open = [file];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (found.has(next))
            continue;
        found.add(next);
        open.push(...(imports.get(next) ?? []));
    }
    return found;
}
async function readJson(file) {
    return JSON.parse(await readFile(file, "utf8"));
}
