// node scripts/setup/run.mjs [--no-dev | --build] [<entry.ts> [arguments]]
// Installs the packages when they are missing, then runs the entry, if there is one, on the project's own Node.
// `--no-dev` is for what runs the service and a local chain: it needs no packages for tests and development.
// `--build` also compiles the contracts when their build output is missing or old. Only tests and linters need it: the
// service and its scripts use contracts/generated.
// Plain JavaScript without packages: it runs on whatever Node the machine has, before anything is installed.
// Only the entry writes to stdout; everything said here goes to stderr, so that output of the entry can be piped.
import { buildContracts, contractsAreBuilt } from "./contracts.mjs";
import { installPackages, packagesAreInstalled, projectNode } from "./packages.mjs";
import { withSetupLock } from "./lock.mjs";
import { replaceThisProcess, runAlone } from "./child.mjs";
import { root, say } from "./project.mjs";
import { settingsFile } from "./settings-file.mjs";

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
  replaceThisProcess(projectNode(), [...settings, ...preloads("./in-place.mjs"), entry, ...args], root);
}
const examples = entry.startsWith("examples") ? ["./client-source.mjs"] : [];
const code = await runAlone(
  projectNode(),
  [...settings, ...preloads("./lifeline.mjs", ...examples), entry, ...args],
  root,
);
process.exit(code);
