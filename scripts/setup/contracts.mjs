import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { runTogether } from "./child.mjs";
import { projectNode } from "./packages.mjs";
import { inProject, projectEnvironment, root, say, sha256, textOf } from "./project.mjs";

// Starting Hardhat only to learn that nothing changed costs two seconds; this file records what was built last.
const markerFile = inProject("artifacts", ".moneta-built");
const typesFile = inProject("types", "ethers-contracts", "index.ts");

export function contractsAreBuilt() {
  const marker = textOf(markerFile);
  return marker !== undefined && existsSync(typesFile) && marker === fingerprint();
}

export async function buildContracts() {
  say("building the contracts (hardhat build)");
  rmSync(markerFile, { force: true });
  // Taken before the build: a source saved while it runs leads to another build, not to a stale one.
  const before = sourcesFingerprint();
  const hardhat = inProject("node_modules", "hardhat", "dist", "src", "cli.js");
  const code = await runTogether(projectNode(), [hardhat, "build"], { cwd: root, env: projectEnvironment() });
  if (code !== 0) throw new Error(`hardhat build failed (exit code ${code})`);
  writeFileSync(markerFile, sha256(before, artifactsFingerprint()));
}

function fingerprint() {
  return sha256(sourcesFingerprint(), artifactsFingerprint());
}

function sourcesFingerprint() {
  const files = [...solidityFiles("contracts"), ...solidityFiles(join("test", "contracts"))].sort();
  files.push("hardhat.config.ts", "package-lock.json");
  return sha256(...files.flatMap((file) => [file, readFileSync(inProject(file))]));
}

/** The names of the build records are hashes of what went in: other runs of Hardhat, such as `--coverage`, change them. */
function artifactsFingerprint() {
  const folder = inProject("artifacts", "build-info");
  return sha256(...(existsSync(folder) ? readdirSync(folder).sort() : []));
}

function solidityFiles(folder) {
  if (!existsSync(inProject(folder))) return [];
  const names = readdirSync(inProject(folder), { recursive: true });
  return names.filter((name) => name.endsWith(".sol")).map((name) => join(folder, name));
}
