// Runs after every install, on the project's own Node (first on PATH, from the package `node`).
// That package links its program from a package of its own, whose other files (headers, npm) nothing uses: 68 MB.
// npm itself may run on an older Node and then leaves out optional packages whose `engines` that Node fails: Hardhat's native
// one. It is installed here, by the same npm on the project's Node, without touching the lock file.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [major] = process.versions.node.split(".").map(Number);

async function loads(name) {
  try {
    await import(name);
    return true;
  } catch {
    return false;
  }
}

function isInstalled(name) {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}

const nodePackage = fileURLToPath(new URL("../../node_modules/node/", import.meta.url));
if (process.execPath.startsWith(nodePackage)) {
  rmSync(`${nodePackage}node_modules`, { recursive: true, force: true, maxRetries: 3 });
}

/** A production installation has no Hardhat, so nothing to repair. */
if (isInstalled("hardhat") && !(await loads("@nomicfoundation/edr"))) {
  const npm = process.env.npm_execpath;
  if (major < 22 || npm === undefined) {
    console.error(
      "Hardhat's native package is missing. Run `npm install` with npm, so that the package `node` comes first on PATH.",
    );
    process.exit(1);
  }
  const done = spawnSync(
    process.execPath,
    [npm, "install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"],
    { stdio: "inherit" },
  );
  process.exit(done.status ?? 1);
}
