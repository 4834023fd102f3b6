import { existsSync, rmSync, writeFileSync } from "node:fs";

import { runQuietly } from "./child.mjs";
import { inProject, machineEnvironment, projectEnvironment, root, say, sha256, textOf } from "./project.mjs";

/**
 * The levels of an installation, with the size of node_modules as `du -sm` shows it. "run": the service and the local chain,
 * for `npm start`. "all": also what tests and development need.
 */
const MEGABYTES = { run: 436, all: 909 };
const HOW_LONG = "usually 30 seconds to 2 minutes";

const lockFile = inProject("package-lock.json");
// npm's record of the installed packages, and our record of the level that was last installed completely.
const installedFile = inProject("node_modules", ".package-lock.json");
const markerFile = inProject("node_modules", ".moneta-installed");

/** The project's own Node, from the package `node`. The links in node_modules/.bin differ between systems. */
export function projectNode() {
  const folder = inProject("node_modules", "node", "bin");
  return process.platform === "win32" ? `${folder}\\node.exe` : `${folder}/node`;
}

/**
 * Whether node_modules has the packages of the level, as package-lock.json wants them. Compares contents, not times: git sets
 * file times at checkout, and a wrong clock must not cause an installation at every start.
 */
export function packagesAreInstalled(level) {
  if (!existsSync(projectNode())) return false;
  const state = stateOfPackages();
  const complete = ["all", level].some((name) => textOf(markerFile) === `${name} ${state}`);
  return complete || missingPackages(level).length === 0;
}

/**
 * Installs the packages of a level, at least: an installation with packages for development keeps them up to date. The step from "run" to "all" only adds packages: `npm start` may be running, and
 * `npm ci` would delete its files. Everything else is `npm ci`, which also repairs what an interrupted run left behind.
 */
export async function installPackages(atLeast) {
  const level = Object.values(packagesIn(installedFile) ?? {}).some(({ dev }) => dev) ? "all" : atLeast;
  const adds = level === "all" && packagesAreInstalled("run");
  say(announcement(level, adds));
  const started = performance.now();
  rmSync(markerFile, { force: true });
  if (!adds || !(await addPackages())) await installFromScratch(level);
  if (!existsSync(projectNode()))
    throw new Error(
      "npm ci did not install the package `node`. Install scripts are probably disabled: run `npm config set ignore-scripts false`, then try again.",
    );
  const missing = missingPackages(level);
  // npm exits with 0 when it could not fetch an optional package.
  if (missing.length > 0)
    throw new Error(
      `npm did not install ${missing.slice(0, 5).join(", ")}. Run the command again. If that does not help, the npm registry may lack the package for this system.`,
    );
  writeFileSync(markerFile, `${level} ${stateOfPackages()}`);
  say(`the packages are installed, after ${Math.round((performance.now() - started) / 1000)} s`);
}

function announcement(level, adds) {
  const more = MEGABYTES.all - MEGABYTES.run;
  if (adds) return `adding the packages for tests and development: about ${more} MB more, ${HOW_LONG}`;
  const what = `installing packages with npm ci: about ${MEGABYTES[level]} MB, ${HOW_LONG}`;
  if (level === "all") return what;
  return `${what}. Tests and development need ${more} MB more, which the first such command installs`;
}

/** @returns whether it succeeded. */
async function addPackages() {
  // On the project's Node, which stays: an older one would leave out packages that need a newer one.
  const args = ["install", "--no-save", "--include=dev", "--include=optional"];
  const added = await npm(args, { node: projectNode(), env: projectEnvironment() });
  if (added.code === 0 && missingPackages("all").length === 0) return true;
  process.stderr.write(added.output);
  say("adding packages failed, so all packages are installed again with npm ci");
  return false;
}

async function installFromScratch(level) {
  const dev = level === "all" ? "--include=dev" : "--omit=dev";
  const how = { node: machineNode(), env: machineEnvironment() };
  const { code, output } = await npm(["ci", dev, "--include=optional"], how);
  if (code === 0) return;
  process.stderr.write(output);
  throw new Error(
    `npm ci failed (exit code ${code}). Its messages are above. Correct the cause, then run the command again.`,
  );
}

/** Runs npm. Returns its exit code and its output. */
function npm(args, { node, env }) {
  const all = [...args, "--no-audit", "--no-fund", "--no-progress", "--loglevel=error"];
  // `npm start` sets the path of npm's program. Otherwise `npm` is on PATH, on Windows as a shell script.
  const program = process.env.npm_execpath;
  return program?.endsWith("npm-cli.js") === true
    ? runQuietly(node, [program, ...all], { cwd: root, env })
    : runQuietly("npm", all, { cwd: root, env, shell: process.platform === "win32" });
}

/** npm replaces the project's Node while it installs from scratch, so it must not run on it. */
function machineNode() {
  return process.execPath.startsWith(inProject("node_modules")) ? "node" : process.execPath;
}

/** npm writes its record again whenever it changes node_modules, so a marker of an earlier state does not count. */
function stateOfPackages() {
  return sha256(textOf(lockFile) ?? "", textOf(installedFile) ?? "");
}

/**
 * Names of packages of the level that are not installed in the version of package-lock.json. Optional ones may be missing:
 * they are for other systems. The exception is Hardhat's native package.
 */
function missingPackages(level) {
  const wanted = packagesIn(lockFile);
  const installed = packagesIn(installedFile);
  if (wanted === undefined || installed === undefined) return ["all packages"];
  const missing = Object.entries(wanted)
    // Other paths are the project's own packages.
    .filter(
      ([path, { dev, link }]) => path.startsWith("node_modules/") && link !== true && (level === "all" || dev !== true),
    )
    .filter(([path, { version, optional }]) =>
      installed[path] === undefined ? optional !== true : installed[path].version !== version,
    )
    .map(([path]) => path.replace("node_modules/", ""));
  const native = "node_modules/@nomicfoundation/edr-";
  if (!Object.keys(installed).some((path) => path.startsWith(native))) missing.push("@nomicfoundation/edr-...");
  return missing;
}

function packagesIn(file) {
  try {
    return JSON.parse(textOf(file) ?? "").packages;
  } catch {
    return undefined;
  }
}
