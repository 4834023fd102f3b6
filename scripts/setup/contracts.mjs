import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { runQuietly } from "./child.mjs";
import { projectNode } from "./packages.mjs";
import { inProject, projectEnvironment, root, say, sha256, textOf } from "./project.mjs";

// Starting Hardhat takes two seconds even if nothing changed. This file records a fingerprint of the last build instead.
const markerFile = inProject("artifacts", ".moneta-built");
const typesFile = inProject("types", "ethers-contracts", "index.ts");

export function contractsAreBuilt() {
  const marker = textOf(markerFile);
  return marker !== undefined && existsSync(typesFile) && marker === fingerprint();
}

export async function buildContracts() {
  say("compiling the contracts and their mocks for the tests (hardhat build); this takes about a minute");
  rmSync(markerFile, { force: true });
  // Computed before the build: if a source changes during the build, the next run builds again.
  const before = sourcesFingerprint();
  const hardhat = inProject("node_modules", "hardhat", "dist", "src", "cli.js");
  // The Solidity tests take longest to compile. `hardhat test` compiles them when it needs them.
  const { code, output } = await runQuietly(projectNode(), [hardhat, "build", "--no-tests"], {
    cwd: root,
    env: projectEnvironment(),
  });
  process.stderr.write(output);
  if (code !== 0) throw new Error(`hardhat build failed (exit code ${code})`);
  writeFileSync(markerFile, sha256(before, artifactsFingerprint()));
}

function fingerprint() {
  return sha256(sourcesFingerprint(), artifactsFingerprint());
}

function sourcesFingerprint() {
  return fingerprintOf([...filesIn("contracts", ".sol"), "hardhat.config.ts", "package-lock.json"]);
}

/** Other Hardhat runs also write artifacts, for example instrumented ones with `--coverage`. Those count as stale. */
function artifactsFingerprint() {
  return fingerprintOf(filesIn(join("artifacts", "contracts"), ".json"));
}

function fingerprintOf(files) {
  return sha256(...files.flatMap((file) => [file, readFileSync(inProject(file))]));
}

function filesIn(folder, extension) {
  if (!existsSync(inProject(folder))) return [];
  const names = readdirSync(inProject(folder), { recursive: true }).filter((name) => name.endsWith(extension));
  return names.sort().map((name) => join(folder, name));
}
