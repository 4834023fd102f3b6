// Runs after every install, on the project's own Node (first on PATH, from the package `node`).
// npm itself may run on an older Node and then leaves out optional packages whose `engines` that Node fails: Hardhat's
// native one, and those of the IPFS node. They are installed here, by the same npm on the project's Node, without touching
// the lock file.
import { spawnSync } from "node:child_process";

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

/** After `npm ci --omit=dev` there is no Hardhat, so nothing to repair. */
const hardhatLacks = isInstalled("hardhat") && !(await loads("@nomicfoundation/edr"));
/** After `npm ci --omit=optional` these packages are not wanted. */
const ipfsNodeLacks = !(process.env.npm_config_omit ?? "").includes("optional") && !isInstalled("libp2p");

if (hardhatLacks || ipfsNodeLacks) {
  const npm = process.env.npm_execpath;
  if (major < 22 || npm === undefined) {
    console.error(
      `${hardhatLacks ? "Hardhat's native package is" : "The packages of the IPFS node are"} missing. Run \`npm install\` with npm, so that the package \`node\` comes first on PATH.`,
    );
    // The service also runs without the built-in IPFS node.
    process.exit(hardhatLacks ? 1 : 0);
  }
  const done = spawnSync(
    process.execPath,
    [npm, "install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund"],
    { stdio: "inherit" },
  );
  process.exit(done.status ?? 1);
}
