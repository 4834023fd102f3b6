import { chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";

import { Rpc } from "../../../api/chain/rpc.ts";
import { anvilBinary } from "../../scene/anvil.ts";
import { freePort } from "../../scene/loopback.ts";
import { ROOT } from "../../scene/program.ts";
import { debianRelease, inContainers, makeRoot, type Podman } from "./podman.ts";
import { output, replaced } from "../../scene/system.ts";
import { CHAIN, documentedCommands, type Finding, makeInstallation, mintOne, require, untilReady } from "./tools.ts";

const GUIDE = "docs/install.md";
/** A name of the image in the documents, and of its container. */
const NAME = "moneta";
const BASE = "moneta-base";
const USER = 1000;

/**
 * Builds the image as the documents say, and runs the documented commands, with Podman in the place of Docker. No registry is
 * asked for the base image: it is made of Debian's packages, with the Node of the lock file.
 */
export function rehearseImage(): Promise<Finding[]> {
  return inContainers({ name: "image", image: BASE }, makeBase, async ({ scene, podman, made }) => [
    await build(podman, made),
    ...(await run(podman, scene.folder)),
  ]);
}

/** An image as the official one of Node on Debian: that release, Node, npm. @returns how it was made. */
async function makeBase(podman: Podman, folder: string): Promise<string> {
  const release = debianRelease();
  const npmFolder = join(await npm("root", "--global"), "npm");
  const archive = join(folder, "base.tar");
  writeFileSync(join(folder, "npmrc"), await npmSettings());
  const hooks = [
    'mkdir -p "$1/usr/local/lib/node_modules" "$1/usr/local/etc"',
    "copy-in node_modules/node/bin/node /usr/local/bin",
    `copy-in ${npmFolder} /usr/local/lib/node_modules`,
    `copy-in ${join(folder, "npmrc")} /usr/local/etc`,
    'ln -s ../lib/node_modules/npm/bin/npm-cli.js "$1/usr/local/bin/npm"',
    ...(await certificates()).map((file) => `upload ${file} ${file}`),
  ];
  const made = await makeRoot(release, ["ca-certificates", "libstdc++6"], hooks, archive);
  await podman.call("import", archive, BASE);
  return `base: ${made}, Node ${process.version}`;
}

/** Runs the npm of the machine: with this checkout's Node it would use other folders and settings. */
function npm(...args: string[]): Promise<string> {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => !folder.startsWith(ROOT));
  // `npm run` hands its own settings on in the environment.
  const env = [`PATH=${folders.join(delimiter)}`, `HOME=${process.env["HOME"] ?? ""}`];
  return output("env", ["-i", ...env, "npm", ...args]);
}

/** The registry and the certificates that npm uses on this machine. */
async function npmSettings(): Promise<string> {
  const registry = await npm("config", "get", "registry");
  return [`registry=${registry}`, ...(await certificates()).map((file) => `cafile=${file}`), ""].join("\n");
}

async function certificates(): Promise<string[]> {
  const file = await npm("config", "get", "cafile");
  return file === "null" ? [] : [file];
}

async function build(podman: Podman, base: string): Promise<Finding> {
  const command = "docker build --tag moneta .";
  require(readFileSync(GUIDE, "utf8").includes(`\`${command}\``), `${GUIDE} no longer has the command of the build`);
  await podman.shell(command, ROOT);
  const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
  const [all, below] = [await podman.sizeOf(NAME), await podman.sizeOf(BASE)];
  return {
    what: `${command} (Podman ${await podman.version()}; ${base})`,
    result: `${megabytes(all)}, of which ${megabytes(all - below)} are not of the base`,
  };
}

/** A chain and an installation, with the commands of the documents. */
async function run(podman: Podman, folder: string): Promise<Finding[]> {
  const home = join(folder, "home");
  const { rpc, url } = await startChain(podman);
  mkdirSync(join(home, "secrets"), { recursive: true });
  const seed = join(home, "secrets", "seed.jwe");
  const send = (method: string, params: unknown[]) => rpc.call(method, params);
  const { deployer } = await makeInstallation(home, seed, { RPC_URL: url }, send);
  chownSync(seed, USER, USER);
  const deployed = await deploy(podman, home, deployer, rpc);
  return [await version(podman), ...deployed, ...(await serve(podman, home))];
}

/** Anvil in a container of the same network. @returns how to call it, and its URL for other containers. */
async function startChain(podman: Podman): Promise<{ rpc: Rpc; url: string }> {
  const port = (await freePort()).toString();
  const published = ["--publish", `127.0.0.1:${port}:8545`, "--volume", `${anvilBinary() ?? ""}:/anvil:ro`];
  // Requests are final some blocks later.
  const options = ["--host", "0.0.0.0", "--chain-id", CHAIN.toString(), "--block-time", "1"];
  await podman.run("--detach", "--name", "chain", ...published, "--entrypoint", "/anvil", BASE, ...options);
  await podman.printed("chain", /Listening on/);
  return { rpc: new Rpc(`http://127.0.0.1:${port}`), url: `http://${await podman.addressOf("chain")}:8545` };
}

async function version(podman: Podman): Promise<Finding> {
  const printed = await podman.run("--rm", "--entrypoint", "moneta", NAME, "--version");
  const { version: expected } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  require(printed === expected, `the image says ${printed}, package.json ${expected}`);
  return { what: "moneta --version", result: printed };
}

async function deploy(
  podman: Podman,
  home: string,
  deployer: { address: string; privateKey: string },
  rpc: Rpc,
): Promise<Finding[]> {
  const env = { DEPLOYER_PRIVATE_KEY: deployer.privateKey };
  const sent = async () => Number(await rpc.call("eth_getTransactionCount", [deployer.address, "latest"]));
  const [prepare = "", dryRun = ""] = documentedCommands(GUIDE, "install -d -o 1000 deployments");
  await podman.shell(prepare, home);
  const planned = await podman.shell(dryRun, home, env);
  require((await sent()) === 0, "the dry run has sent a transaction");
  await podman.shell(replaced(dryRun, [[" --dry-run", ""]]), home, env);
  const file = join(home, "deployments", `${CHAIN.toString()}.json`);
  const { relay } = JSON.parse(readFileSync(file, "utf8")) as { relay?: unknown };
  require(relay !== undefined, `${file} names no relay`);
  const cost = /^ +total +(about \d+ gas)/m.exec(planned)?.[1] ?? "";
  require(cost !== "", planned);
  return [
    { what: "moneta deploy --dry-run", result: `says "${cost}", and sends nothing` },
    { what: "moneta deploy", result: `${(await sent()).toString()} transactions; wrote the deployment file` },
  ];
}

/** The service, with the flags of the documents. */
async function serve(podman: Podman, home: string): Promise<Finding[]> {
  const port = (await freePort()).toString();
  const [start = "", createApp = "", doctor = ""] = documentedCommands(GUIDE, "docker run --detach --name moneta");
  await podman.shell(replaced(start, [["127.0.0.1:3000:3000", `127.0.0.1:${port}:3000`]]), home);
  const baseUrl = `http://127.0.0.1:${port}`;
  await untilReady(baseUrl, () => podman.whyGone(NAME));
  const created = await podman.shell(createApp, home);
  const token = /^token: (\S+)$/m.exec(created)?.[1] ?? "";
  const minted = await mintOne(baseUrl, token);
  await podman.shell(doctor, home);
  await podman.call("healthcheck", "run", NAME);
  await confined(podman);
  const began = performance.now();
  await podman.shell("docker stop moneta", home);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const exit = await podman.call("inspect", "--format", "{{.State.ExitCode}}", NAME);
  require(exit === "0", `the service ended with ${exit}`);
  return [
    {
      what: "docker run --read-only --cap-drop ALL --security-opt no-new-privileges --init ...",
      result: `/readyz 200, the health check is good, user 1000, no capabilities, the root file system cannot be written`,
    },
    {
      what: "docker exec moneta moneta app create, moneta doctor",
      result: `minted token ${minted.toString()}; doctor finds nothing wrong`,
    },
    { what: "docker stop", result: `exit code 0 after ${seconds} s` },
  ];
}

/** @throws when the container can do more than the documents say. */
async function confined(podman: Podman): Promise<void> {
  const status = await podman.call("exec", NAME, "cat", "/proc/1/status");
  for (const line of [`Uid:\t${USER}\t`, "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1"]) {
    require(status.includes(line), `the process does not have "${line}": ${status}`);
  }
  for (const folder of ["/app", "/usr/local/bin", "/etc"]) {
    const why = await podman.fails("exec", "--user", "0", NAME, "touch", `${folder}/new`);
    require(/Read-only file system/.test(why), `${folder} can be written: ${why}`);
  }
}
