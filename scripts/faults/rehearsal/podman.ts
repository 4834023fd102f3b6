import { execFile } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

import { anvilBinary } from "../../scene/anvil.ts";
import { ROOT } from "../../scene/program.ts";
import { Scene } from "../../scene/scene.ts";
import { output, programAt } from "../../scene/system.ts";
import { until } from "../../scene/until.ts";
import { type Finding, notInstalled, PATIENCE, require } from "./tools.ts";

const NETWORK = "rehearsal";
/** `npm ci` prints little, a service some lines for each call. */
const MAX_OUTPUT = 64 * 1024 * 1024;

/** What Podman needs for all that is tried here, and the Debian packages that have it. */
const NEEDED = [
  ["podman", "podman"],
  ["mmdebstrap", "mmdebstrap"],
  ["catatonit", "catatonit"],
  ["netavark", "netavark"],
  ["iptables", "iptables"],
] as const;

/** What keeps this machine from running containers with a chain; empty: nothing. */
function missingForContainers(what: string): Finding[] {
  const missing = NEEDED.filter(([program]) => programAt(program) === null);
  if (missing.length > 0) return missing.map(([program, name]) => notInstalled(what, program, name));
  if (anvilBinary() === null) return [notInstalled(what, "anvil", "none: it comes with npm on Linux on x64")];
  if (process.getuid?.() !== 0) return [{ what: `${what} (needs root, to make a root file system)`, result: null }];
  return [];
}

/** The release of Debian on which the image of the service is based. */
export function debianRelease(): string {
  const release = /^ARG BASE=node:\d+-(\w+)-slim$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1];
  require(release !== undefined, "the Dockerfile no longer names Node's image of a Debian release");
  return release;
}

/** Makes a root file system of Debian's packages. @param hooks of mmdebstrap. @returns how it was made. */
export async function makeRoot(release: string, packages: string[], hooks: string[], archive: string): Promise<string> {
  const options = ["--variant=essential", `--include=${packages.join(",")}`];
  await output("mmdebstrap", [...options, ...hooks.map((hook) => `--customize-hook=${hook}`), release, archive], ROOT);
  const [, version = ""] = /(\S+)$/.exec(await output("mmdebstrap", ["--version"])) ?? [];
  return `Debian ${release} by mmdebstrap ${version}`;
}

/**
 * Tries something in containers, or says why not.
 * @param make makes the image that the containers are based on. @returns what it made, for `attempt`.
 */
export async function inContainers<T>(
  { name, image }: { name: string; image: string },
  make: (podman: Podman, folder: string) => Promise<T>,
  attempt: (place: { scene: Scene; podman: Podman; made: T }) => Promise<Finding[]>,
): Promise<Finding[]> {
  const missing = missingForContainers(name);
  if (missing.length > 0) return missing;
  return Scene.open(name, async (scene) => {
    try {
      const podman = await scene.add(Podman.create(scene.folder));
      const made = await make(podman, scene.folder);
      const reason = await podman.findWay(image);
      if (reason !== null) return [{ what: `${name} (${reason})`, result: null }];
      return await attempt({ scene, podman, made });
    } finally {
      await scene.close();
    }
  });
}

/** Podman with images, containers and networks of its own, below a folder. Commands of the documents find it as `docker`. */
export class Podman {
  readonly #programs: string;
  #global: string[];
  #limits: string[] = [];
  #hasNetwork = false;

  private constructor(folder: string, driver: string) {
    this.#programs = join(folder, "bin");
    const places = ["root", "runroot", "tmpdir", "network-config-dir"];
    this.#global = [
      `--storage-driver=${driver}`,
      ...places.map((place) => `--${place}=${join(folder, driver, place)}`),
    ];
  }

  /** The driver `vfs` copies each layer, and works on every file system. */
  static async create(folder: string): Promise<Podman> {
    const fast = new Podman(folder, "overlay");
    const isUsable = await fast.call("info").then(
      () => true,
      () => false,
    );
    const podman = isUsable ? fast : new Podman(folder, "vfs");
    mkdirSync(podman.#programs);
    return podman;
  }

  async version(): Promise<string> {
    return /(\S+)$/.exec(await output("podman", ["--version"]))?.[1] ?? "";
  }

  /**
   * Finds how a container of the image can run here: as Podman would, else with low limits, else also with runc,
   * which takes hierarchies of cgroups that the default runtime refuses. @returns why none can; null: one can.
   */
  async findWay(image: string): Promise<string | null> {
    await this.call("network", "create", "--disable-dns", NETWORK);
    this.#hasNetwork = true;
    const limits = lowLimits();
    const ways = [
      { global: [], limits: [] },
      { global: [], limits },
      ...(programAt("runc") === null ? [] : [{ global: ["--runtime=runc"], limits }]),
    ];
    const reasons: string[] = [];
    const always = this.#global;
    for (const way of ways) {
      [this.#global, this.#limits] = [[...always, ...way.global], way.limits];
      const reason = await this.run("--rm", "--entrypoint", "true", image).then(() => null, String);
      if (reason === null) {
        this.#writeShim(image);
        return null;
      }
      reasons.push(`${[...way.global, ...way.limits].join(" ")}: ${reason}`);
    }
    return `Podman runs no container here. ${reasons.join("; ")}`;
  }

  /** @returns what it printed. */
  async call(...args: string[]): Promise<string> {
    const { stdout } = await promisify(execFile)("podman", [...this.#global, ...args], { maxBuffer: MAX_OUTPUT });
    return stdout.trim();
  }

  run(...args: string[]): Promise<string> {
    return this.call("run", "--network", NETWORK, ...this.#limits, ...args);
  }

  /** As `run`, with the machine's own network. */
  runOnHost(...args: string[]): Promise<string> {
    return this.call("run", "--network=host", ...this.#limits, ...args);
  }

  /** @returns what it printed when it failed. @throws when it does not fail. */
  async fails(...args: string[]): Promise<string> {
    const reason = await this.call(...args).then(() => null, String);
    require(reason !== null, `did not fail: podman ${args.join(" ")}`);
    return reason;
  }

  /** Runs a documented command. */
  async shell(command: string, cwd: string, env: Record<string, string> = {}): Promise<string> {
    const path = [this.#programs, process.env["PATH"] ?? ""].join(delimiter);
    const options = { cwd, env: { ...process.env, ...env, PATH: path }, maxBuffer: MAX_OUTPUT };
    const { stdout, stderr } = await promisify(execFile)("sh", ["-euc", command], options);
    return `${stdout}${stderr}`.trim();
  }

  async sizeOf(image: string): Promise<number> {
    return Number(await this.call("image", "inspect", "--format", "{{.Size}}", image));
  }

  async addressOf(container: string): Promise<string> {
    const format = `{{(index .NetworkSettings.Networks "${NETWORK}").IPAddress}}`;
    return this.call("inspect", "--format", format, container);
  }

  /** @returns what the container printed, when it has ended; null while it runs. */
  async whyGone(container: string): Promise<string | null> {
    const runs = await this.call("inspect", "--format", "{{.State.Running}}", container);
    return runs === "true" ? null : this.call("logs", container);
  }

  async printed(container: string, pattern: RegExp): Promise<void> {
    const hasPrinted = async () => pattern.test(await this.call("logs", container));
    await until(`the output of ${container}`, hasPrinted, PATIENCE);
  }

  async stop(): Promise<void> {
    await this.call("rm", "--force", "--all", "--time", "1");
    if (this.#hasNetwork) await this.call("network", "rm", NETWORK);
  }

  /** A program `docker`: what differs on this machine is added, and nothing is taken away. */
  #writeShim(base: string): void {
    const quoted = (words: string[]) => words.map((word) => `'${word}'`).join(" ");
    const build = ["--format=docker", "--isolation=chroot", "--network=host", `--build-arg=BASE=${base}`];
    const run = [`--network=${NETWORK}`, ...this.#limits];
    const file = join(this.#programs, "docker");
    writeFileSync(
      file,
      `#!/bin/sh
command=$1
shift
case $command in
  build) set -- ${quoted(build)} "$@" ;;
  run) set -- ${quoted(run)} "$@" ;;
esac
exec podman ${quoted(this.#global)} "$command" "$@"
`,
    );
    chmodSync(file, 0o755);
  }
}

/** Limits that need no right which root may lack. Podman asks for higher ones; it lowers that of its own processes before. */
function lowLimits(): string[] {
  const files = /^Max open files +\d+ +(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1] ?? "1024";
  return [`--ulimit=nofile=${files}:${files}`, "--ulimit=nproc=4096:4096"];
}
