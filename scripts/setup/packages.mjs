import { existsSync, writeFileSync } from "node:fs";

import { runTogether } from "./child.mjs";
import { inProject, machineEnvironment, root, say, sha256, textOf } from "./project.mjs";

const lockFile = inProject("package-lock.json");
// npm's own record of what it installed, and ours of the lock file for which `npm ci` last succeeded.
const installedFile = inProject("node_modules", ".package-lock.json");
const markerFile = inProject("node_modules", ".moneta-installed");

/** The project's own Node, a file of the package `node`; the links in node_modules/.bin differ between systems. */
export function projectNode() {
  const folder = inProject("node_modules", "node", "bin");
  return process.platform === "win32" ? `${folder}\\node.exe` : `${folder}/node`;
}

/**
 * Whether node_modules holds what package-lock.json says. Contents are compared, not times: git gives files the time of
 * the checkout, and a clock that was wrong once must not cause an installation at every start.
 */
export function packagesAreInstalled() {
  const installed = textOf(installedFile);
  const wanted = textOf(lockFile);
  if (installed === undefined || wanted === undefined || !existsSync(projectNode())) return false;
  return textOf(markerFile) === sha256(wanted) || holdsAll(parse(wanted), parse(installed));
}

export async function installPackages() {
  say("installing the packages of package-lock.json (npm ci), about half a minute");
  const args = ["ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"];
  const options = { cwd: root, env: machineEnvironment() };
  // Inside `npm start` the path of npm's own program is known. Otherwise `npm` is on PATH, on Windows as a shell script.
  const npm = process.env.npm_execpath;
  const code =
    npm?.endsWith("npm-cli.js") === true
      ? await runTogether(machineNode(), [npm, ...args], options)
      : await runTogether("npm", args, { ...options, shell: process.platform === "win32" });
  if (code !== 0) throw new Error(`npm ci failed (exit code ${code})`);
  if (!existsSync(projectNode()))
    throw new Error("npm ci left no Node in node_modules: are install scripts switched off?");
  writeFileSync(markerFile, sha256(textOf(lockFile) ?? ""));
}

/** npm removes the project's Node while it works, so it must not run on it. */
function machineNode() {
  return process.execPath.startsWith(inProject("node_modules")) ? "node" : process.execPath;
}

/** Optional packages are those of other platforms, except that Hardhat needs the one of this platform, and the IPFS node its own. */
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
