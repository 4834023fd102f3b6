import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { runCommand } from "../../scene/command-line.ts";
import { freePort } from "../../scene/loopback.ts";
import { NodeProcess } from "../../scene/node.ts";
import { ROOT } from "../../scene/program.ts";
import { until } from "../../scene/until.ts";
import { debianRelease, inContainers, makeRoot, type Podman } from "./podman.ts";
import {
  CHAIN,
  documentedCommands,
  type Finding,
  makeInstallation,
  mintOne,
  PATIENCE,
  require,
  untilReady,
} from "./tools.ts";

const IMAGE = "systemd";
const HOME = "/opt/moneta";
/** What an installation has of a checkout. */
const INSTALLED = ["api", "client", "console/built", "contracts/generated", "node_modules", "ops", "package.json"];
/** Documented commands that bring what is mounted instead, or that never end. */
const LEFT_OUT = /^(?:git clone|cd |ops\/install-node|journalctl)/;
/** Units that would change the machine outside of the container, or that need a terminal. */
const MASKED = ["systemd-sysctl.service", "systemd-modules-load.service", "getty.target", "console-getty.service"];

/**
 * systemd itself, as process 1 of a container, starts the unit, with all of its protections. The commands are those of the
 * documents.
 */
export function rehearseSystemd(): Promise<Finding[]> {
  return inContainers({ name: "systemd", image: IMAGE }, makeMachine, async ({ scene, podman }) => {
    const node = await scene.add(NodeProcess.anvil(["--block-time", "1"], { chainId: CHAIN }));
    return tryUnit(new Machine(podman), node, scene.folder);
  });
}

/** An image with systemd. */
async function makeMachine(podman: Podman, folder: string): Promise<void> {
  const archive = join(folder, "root.tar");
  const packages = ["adduser", "ca-certificates", "dbus", "libstdc++6", "systemd", "systemd-sysv"];
  const hooks = MASKED.map((unit) => `ln -s /dev/null "$1/etc/systemd/system/${unit}"`);
  await makeRoot(debianRelease(), packages, hooks, archive);
  await podman.call("import", archive, IMAGE);
}

async function tryUnit(machine: Machine, node: NodeProcess, folder: string): Promise<Finding[]> {
  const port = (await freePort()).toString();
  await machine.boot();
  await install(machine, node, port, folder);
  const verified = await machine.run("systemd-analyze verify /etc/systemd/system/moneta.service 2>&1");
  require(verified === "", verified);
  const security = await machine.run("systemd-analyze security --offline=true /etc/systemd/system/moneta.service");
  const level = /Overall exposure level for \S+ ([\d.]+)/.exec(security)?.[1];
  require(level !== undefined && readFileSync("docs/install.md", "utf8").includes(`says ${level} (`), security);

  const baseUrl = `http://127.0.0.1:${port}`;
  await untilReady(baseUrl, () => machine.whyFailed());
  const [command = ""] = documentedCommands("docs/install.md", "systemd-run --quiet");
  const created = await machine.run(command.replace(/doctor$/, "app create rehearsal"));
  const minted = await mintOne(baseUrl, /^token: (\S+)$/m.exec(created)?.[1] ?? "").catch(async (error: unknown) => {
    const head = await node.provider.getBlockNumber();
    throw new Error(`no token at block ${head.toString()} of the chain:\n${await machine.journal()}`, { cause: error });
  });
  await machine.run(command);
  await machine.confined();
  const began = performance.now();
  await machine.run("systemctl stop moneta");
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const ended = await machine.run("systemctl show --property Result --value moneta");
  require(ended === "success", `systemd says ${ended}`);
  const version = /^systemd (\d+)/.exec(await machine.run("systemctl --version"))?.[1] ?? "";
  return [
    { what: "systemd-analyze verify moneta.service", result: "no complaint" },
    { what: "systemd-analyze security moneta.service", result: `${level}, as documented` },
    {
      what: `systemctl enable --now moneta (systemd ${version} as process 1 of a container)`,
      result: `/readyz 200 and token ${minted.toString()} minted; it can write only to its folders`,
    },
    { what: "systemd-run ... api/cli/main.ts doctor", result: "finds nothing wrong" },
    { what: "systemctl stop moneta", result: `success after ${seconds} s` },
  ];
}

/** Deploys the contracts, and installs the service with the commands of the documents. */
async function install(machine: Machine, node: NodeProcess, port: string, folder: string): Promise<void> {
  const home = join(folder, "home");
  mkdirSync(home);
  const seed = join(home, "seed.jwe");
  const send = (method: string, params: unknown[]) => node.provider.send(method, params) as Promise<unknown>;
  const { settings, deployer } = await makeInstallation(home, seed, { RPC_URL: node.url, PORT: port }, send);
  const here = { ...settings, SEED_FILE: seed, DEPLOYMENTS_DIR: home };
  await runCommand({ ...here, DEPLOYER_PRIVATE_KEY: deployer.privateKey }, ["deploy"]);
  const chain = `${CHAIN.toString()}.json`;
  for (const file of ["moneta.env", "seed.jwe", chain]) await machine.copy(join(home, file));
  for (const command of documentedCommands("docs/install.md", "adduser --system")) {
    if (!LEFT_OUT.test(command)) await machine.run(command.replace("<chain id>.json", chain));
  }
}

/** A machine whose process 1 is systemd. */
class Machine {
  readonly #podman: Podman;

  constructor(podman: Podman) {
    this.#podman = podman;
  }

  async boot(): Promise<void> {
    const mounts = INSTALLED.map((path) => `--volume=${join(ROOT, path)}:${HOME}/${path}:ro`);
    const runtime = `--volume=${join(ROOT, "node_modules/node")}:${HOME}/runtime:ro`;
    // systemd gives the protections of a unit, for which it needs all rights.
    const options = ["--detach", "--name", IMAGE, "--privileged", "--systemd=always", ...mounts, runtime];
    await this.#podman.runOnHost(...options, IMAGE, "/lib/systemd/systemd", "--unit=multi-user.target");
    const state = () => this.#podman.call("exec", IMAGE, "sh", "-c", "systemctl is-system-running || true");
    await until("systemd", async () => (await state()) === "running", PATIENCE);
  }

  /** @returns what it printed. */
  run(command: string): Promise<string> {
    return this.#podman.call("exec", "--workdir", HOME, IMAGE, "sh", "-euc", command);
  }

  async copy(file: string): Promise<void> {
    await this.#podman.call("cp", file, `${IMAGE}:${HOME}/`);
  }

  async whyFailed(): Promise<string | null> {
    const state = await this.run("systemctl show --property ActiveState,NRestarts --value moneta");
    if (state === "0\nactive" || state === "active\n0") return null;
    return this.journal();
  }

  /** The newest lines of the service's log. */
  journal(): Promise<string> {
    return this.run("journalctl --unit moneta --output cat --no-pager | tail -n 40");
  }

  /** @throws when the service can do more than the documents say. */
  async confined(): Promise<void> {
    const id = await this.run("systemctl show --property MainPID --value moneta");
    const status = await this.run(`cat /proc/${id}/status`);
    for (const line of ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"]) {
      require(status.includes(line), `the process does not have "${line}": ${status}`);
    }
    const mounts = await this.run(`cat /proc/${id}/mountinfo`);
    const writable = mounts
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([, , , , , options = ""]) => options.split(",").includes("rw"))
      .map(([, , , , path = ""]) => path)
      .filter((path) => !/^\/(?:dev|proc|run|sys)(?:\/|$)/.test(path));
    require(writable.every((path) => /^\/(?:tmp|var\/tmp|var\/lib\/moneta)$/.test(path)), writable.join(", "));
  }
}
