// node scripts/setup/run.mjs [--no-dev | --build] [<entry.ts> [arguments]]
// Installs the packages when they are missing, then runs the entry, if there is one, on the project's own Node.
// `--no-dev` is for what runs the service and a local chain: it needs no packages for tests and development.
// `--build` also compiles the contracts when their build output is missing or old. Only tests and linters need it: the
// service and its scripts use contracts/generated.
// Plain JavaScript without packages: it runs on whatever Node the machine has, before anything is installed.
// Only the entry writes to stdout; everything said here goes to stderr, so that output of the entry can be piped.
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { buildContracts, contractsAreBuilt } from "./contracts.mjs";
import { installPackages, packagesAreInstalled, projectNode } from "./packages.mjs";
import { replaceThisProcess, runAlone } from "./child.mjs";
import { inProject, root, say } from "./project.mjs";

const lockFile = inProject("cache", "setup.lock");
const POLL_MS = 200;
/** Longer than any set-up takes. After a restart of the machine, another process may have the recorded id. */
const MAX_AGE_MS = 10 * 60_000;

const option = ["--no-dev", "--build"].find((known) => known === process.argv[2]);
const level = option === "--no-dev" ? "run" : "all";
const needsBuild = option === "--build";
const [entry, ...args] = process.argv.slice(option === undefined ? 2 : 3);

function isReady() {
  return packagesAreInstalled(level) && (!needsBuild || contractsAreBuilt());
}

let file = null;
try {
  // Tests and the demonstration of `npm start` must not pick up the settings of an installation.
  if (entry?.replaceAll("\\", "/").startsWith("api/")) file = settingsFile(process.env);
  if (!isReady()) {
    // Asked again under the lock: another process may have done the work in the meantime.
    await withSetupLock(async () => {
      if (!packagesAreInstalled(level)) await installPackages(level);
      if (needsBuild && !contractsAreBuilt()) await buildContracts();
    });
  }
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
if (entry === undefined) process.exit(0);

// Errors of the service name the file that has its settings.
if (file === null) delete process.env.MONETA_SETTINGS_FILE;
else process.env.MONETA_SETTINGS_FILE = file;
const settings = file === null ? [] : [`--env-file=${file}`];
function preloads(...files) {
  return files.flatMap((file) => ["--import", new URL(file, import.meta.url).href]);
}

// The service stays for long, leaves no process behind, and counts a signal that comes twice as one.
if (entry === "api/main.ts") {
  replaceThisProcess(projectNode(), [...settings, ...preloads("./lifeline.mjs"), entry, ...args], root);
}
const examples = entry.startsWith("examples") ? ["./client-source.mjs"] : [];
const code = await runAlone(
  projectNode(),
  [...settings, ...preloads("./lifeline.mjs", ...examples), entry, ...args],
  root,
);
process.exit(code);

/**
 * The file whose settings the service and its commands read, below the environment: that of `npm start` if DATA_DIR names its
 * folder, otherwise `.env`. Never both: `.env` may have the keys and the chain of an installation. Only the environment names
 * the folder, so that a file that `npm start` has left behind changes no installation whose folder stands in `.env`.
 * @returns a path, as people write it in this folder; null: there is none.
 * @throws Error when another user could have written the file of `npm start`: Node reads options from it, too.
 */
function settingsFile(env) {
  const dataDir = env.DATA_DIR?.trim() ?? "";
  const local = dataDir === "" ? null : join(dataDir, "start.env");
  const found = local === null ? undefined : statOf(local);
  if (found === undefined) return statOf(".env") === undefined ? null : ".env";
  const mine = process.getuid === undefined || [0, process.getuid()].includes(found.uid);
  if (!mine || (process.platform !== "win32" && (found.mode & 0o022) !== 0))
    throw new Error(`${local} is not used: another user can write to it. Remove it, and run \`npm start\` again.`);
  return local;
}

function statOf(path) {
  return statSync(resolve(root, path), { throwIfNoEntry: false });
}

/** Runs the work while no other process of this checkout installs or builds. */
async function withSetupLock(work) {
  mkdirSync(inProject("cache"), { recursive: true });
  for (let waited = false; !tryLock(); waited = true) {
    if (!waited) say("waiting for another process that installs or builds here");
    if (holderIsGone()) rmSync(lockFile, { force: true });
    await sleep(POLL_MS);
  }
  process.once("exit", unlock);
  try {
    return await work();
  } finally {
    process.off("exit", unlock);
    unlock();
  }
}

function tryLock() {
  try {
    writeFileSync(lockFile, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if (error.code === "EEXIST") return false;
    throw error;
  }
}

function unlock() {
  rmSync(lockFile, { force: true });
}

function holderIsGone() {
  try {
    if (Date.now() - statSync(lockFile).mtimeMs > MAX_AGE_MS) return true;
    const holder = Number(readFileSync(lockFile, "utf8"));
    // Empty: the owner has created the file but not written it yet.
    if (holder === 0) return false;
    process.kill(holder, 0);
    return false;
  } catch (error) {
    return error.code === "ESRCH";
  }
}
