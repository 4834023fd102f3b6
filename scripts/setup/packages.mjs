import { existsSync, writeFileSync } from "node:fs";

import { runTogether } from "./child.mjs";
import { showProgress } from "./progress.mjs";
import { inProject, machineEnvironment, root, say, sha256, textOf } from "./project.mjs";

/** Size of node_modules, rounded. */
const INSTALLED_MB = 795;
const lockFile = inProject("package-lock.json");
// npm's record of the installed packages, and our record of the lock file for which `npm ci` last succeeded.
const installedFile = inProject("node_modules", ".package-lock.json");
const markerFile = inProject("node_modules", ".moneta-installed");

/** The project's own Node, from the package `node`. The links in node_modules/.bin differ between systems. */
export function projectNode() {
  const folder = inProject("node_modules", "node", "bin");
  return process.platform === "win32" ? `${folder}\\node.exe` : `${folder}/node`;
}

/**
 * Whether node_modules matches package-lock.json. Compares contents, not times: git sets file times at checkout, and a wrong
 * clock must not cause an installation at every start.
 */
export function packagesAreInstalled() {
  const installed = textOf(installedFile);
  const wanted = textOf(lockFile);
  if (installed === undefined || wanted === undefined || !existsSync(projectNode())) return false;
  return textOf(markerFile) === sha256(wanted) || holdsAll(parse(wanted), parse(installed));
}

export async function installPackages() {
  say(`installing packages with npm ci: about ${INSTALLED_MB} MB, usually 30 seconds to 2 minutes`);
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
  const options = { cwd: root, env: machineEnvironment() };
  // `npm start` sets the path of npm's program. Otherwise `npm` is on PATH, on Windows as a shell script.
  const npm = process.env.npm_execpath;
  const started = performance.now();
  const progress = showProgress("installing", inProject("node_modules"), INSTALLED_MB);
  const code = await (
    npm?.endsWith("npm-cli.js") === true
      ? runTogether(machineNode(), [npm, ...args], options)
      : runTogether("npm", args, { ...options, shell: process.platform === "win32" })
  ).finally(() => progress.end());
  if (code !== 0)
    throw new Error(
      `npm ci failed (exit code ${code}). Its messages are above. Correct the cause, then run the command again.`,
    );
  if (!existsSync(projectNode()))
    throw new Error(
      "npm ci did not install the package `node`. Install scripts are probably disabled: run `npm config set ignore-scripts false`, then try again.",
    );
  writeFileSync(markerFile, sha256(textOf(lockFile) ?? ""));
  say(`the packages are installed, after ${Math.round((performance.now() - started) / 1000)} s`);
}

/** npm replaces the project's Node while it installs, so npm must not run on it. */
function machineNode() {
  return process.execPath.startsWith(inProject("node_modules")) ? "node" : process.execPath;
}

/** Optional packages may be missing: they are for other platforms. Hardhat's native package and libp2p are the exceptions. */
function holdsAll(wanted, installed) {
  if (wanted === undefined || installed === undefined) return false;
  for (const [path, { version, optional }] of Object.entries(wanted)) {
    if (path === "") continue;
    const found = installed[path];
    if (found === undefined ? optional !== true : found.version !== version) return false;
  }
  const paths = Object.keys(installed);
  return ["node_modules/@nomicfoundation/edr-", "node_modules/libp2p"].every((start) =>
    paths.some((path) => path.startsWith(start)),
  );
}

function parse(text) {
  try {
    return JSON.parse(text).packages;
  } catch {
    return undefined;
  }
}
