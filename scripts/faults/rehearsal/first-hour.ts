import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { anvilBinary } from "../../scene/anvil.ts";
import { freePort } from "../../scene/loopback.ts";
import { NodeProcess } from "../../scene/node.ts";
import { Program, ROOT } from "../../scene/program.ts";
import { missingForProduction } from "./production.ts";
import { type Finding, notInstalled, require } from "./tools.ts";

/** The longest step is the installation of all packages. */
const LONGEST_MS = 20 * 60_000;
const GRACE_MS = 30_000;
/** Base Sepolia, for the service: a public chain. */
const CHAIN = 84_532;
/** Coins that are more than a deployment and two lanes need, as quantity of wei. */
const COINS = "0xde0b6b3a7640000";

/** What a new user does in the first hour, with the commands of docs/first-hour.md, and the seconds of each step. */
export async function rehearseFirstHour(): Promise<Finding[]> {
  if (anvilBinary() === null) return [notInstalled("first hour", "anvil", "none: it comes with npm on Linux on x64")];
  const folder = mkdtempSync(join(tmpdir(), "moneta-first-hour-"));
  leaveNothing(folder);
  try {
    return await new FirstHour(folder).run();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** How many blocks of commands each section has, and what a run replaces in them by its own. */
export const SECTIONS = {
  "1. Get it": { blocks: 1, replaced: ["<this repository>"] },
  "2. Start it": { blocks: 1, replaced: [] },
  "4. Make a collection of your own": { blocks: 3, replaced: ["moneta_...", "http://localhost:3000"] },
  "5. Start an app of your own": { blocks: 3, replaced: ["http://localhost:4000"] },
  "6. Move to a test network": { blocks: 1, replaced: ["https://...", "--chain baseSepolia"] },
  "7. Start it as in production": { blocks: 1, replaced: [] },
} as const;

/**
 * The blocks of commands of a section of docs/first-hour.md.
 * @param own what this run has in place of what the page says, in the order of `SECTIONS`.
 */
export function commandsOf(heading: keyof typeof SECTIONS, own: readonly string[]): [string, string, string] {
  const { blocks, replaced } = SECTIONS[heading];
  const [, after = ""] = readFileSync(join(ROOT, "docs", "first-hour.md"), "utf8").split(`\n## ${heading}\n`);
  const [section = ""] = after.split("\n## ");
  const found = [...section.matchAll(/^```bash\n([^]*?)^```/gm)].map(([, commands = ""]) => commands);
  const counted = `docs/first-hour.md has ${found.length.toString()} blocks of commands in "${heading}"`;
  require(found.length === blocks, counted);
  const [one = "", two = "", three = ""] = found.map((block) =>
    replaced.reduce<string>((text, name, index) => text.replaceAll(name, own[index] ?? name), block),
  );
  for (const name of replaced) {
    require(found.join("").includes(name), `docs/first-hour.md no longer has "${name}" in "${heading}"`);
  }
  return [one, two, three];
}

class FirstHour {
  readonly #folder: string;
  readonly #findings: Finding[] = [];
  #milliseconds = 0;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async run(): Promise<Finding[]> {
    const [port, rpcPort] = [await freePort(), await freePort()];
    const url = `http://localhost:${port.toString()}`;
    const first = new Shell(this.#folder, { PORT: port.toString(), RPC_PORT: rpcPort.toString(), METRICS_PORT: "0" });
    const [clone] = commandsOf("1. Get it", [ROOT]);
    await this.#take("`git clone`", () => first.run(clone));
    const [start] = commandsOf("2. Start it", []);
    const moneta = await this.#take("`npm start`: packages, chain, service, tour, until it serves", () =>
      first.serve(start, /^serving/m),
    );
    try {
      const [, token = ""] = await moneta.printed(/^token: (\S+)$/m);
      const [link = ""] = await moneta.printed(/http:\S+\/console#code=\S+/);
      await this.#take("The console: its page, and the link signs in", () => signIn(url, link));
      const second = new Shell(this.#folder);
      await this.#ownCollection(second, url, token);
      await this.#ownApp(second);
    } finally {
      await moneta.end("SIGINT", GRACE_MS);
    }
    await this.#testNetwork();
    await this.#production();
    return [...this.#findings, { what: "All of it", result: secondsOf(this.#milliseconds) }];
  }

  async #ownCollection(shell: Shell, url: string, token: string): Promise<void> {
    const [settings, create, drop] = commandsOf("4. Make a collection of your own", [token, url]);
    await shell.run(settings);
    await this.#take("A collection of one's own, and six pictures minted with `drop`", async () => {
      const printed = await shell.run(`${create}${drop}`);
      require(printed.includes('"status":"completed"'), printed);
    });
  }

  async #ownApp(shell: Shell): Promise<void> {
    const port = (await freePort()).toString();
    const [pack, start, mint] = commandsOf("5. Start an app of your own", [`http://localhost:${port}`]);
    const [packing = "", ...making] = pack.split("\n");
    await this.#take("`npm run client:pack`, with the packages for development", () => shell.run(packing));
    await this.#take("An app of one's own: `create-moneta-app`, `npm install`", () => shell.run(making.join("\n")));
    await this.#take("The app starts, mints for a user, and gets the webhook", async () => {
      shell.set("PORT", port);
      const app = await shell.serve(start, /The app is open/);
      try {
        await shell.run(mint);
        await app.printed(/^completed: request \S+, token 1$/m);
      } finally {
        await app.end("SIGTERM", GRACE_MS);
      }
    });
  }

  async #testNetwork(): Promise<void> {
    const node = await NodeProcess.anvil(["--block-time", "1"], { chainId: CHAIN });
    const shell = new Shell(join(this.#folder, "moneta"), { PORT: (await freePort()).toString() });
    const withoutWords = "--chain baseSepolia --without-words";
    const [init] = commandsOf("6. Move to a test network", [node.url, withoutWords]);
    try {
      await this.#take("`init` on a test network: keys, contracts, until the service is ready", async () => {
        const program = await shell.serve(init, /to the deployer: 0x\w{40}/);
        try {
          const [, deployer = ""] = await program.printed(/to the deployer: (0x\w{40})/);
          await node.provider.send("anvil_setBalance", [deployer, COINS]);
          await program.printed(/Moneta is ready on /, LONGEST_MS);
        } finally {
          await program.end("SIGTERM", GRACE_MS);
        }
      });
    } finally {
      await node.stop();
    }
  }

  async #production(): Promise<void> {
    const [rehearse] = commandsOf("7. Start it as in production", []);
    const missing = missingForProduction();
    this.#findings.push(...missing);
    if (missing.length > 0) return;
    const shell = new Shell(join(this.#folder, "moneta"));
    const printed = await this.#take("As in production: PostgreSQL, PgBouncer, nginx; then 300 mints", () =>
      shell.run(rehearse),
    );
    // A part that cannot be tried here says which program it needs.
    if (printed.includes("not tried")) this.#findings.push({ what: printed.trim(), result: null });
  }

  async #take<T>(what: string, work: () => Promise<T>): Promise<T> {
    console.error(`${what} ...`);
    const began = performance.now();
    const result = await work();
    const milliseconds = performance.now() - began;
    this.#milliseconds += milliseconds;
    this.#findings.push({ what, result: secondsOf(milliseconds) });
    return result;
  }
}

/** Programs that would outlive this process, because signals of the terminal do not reach them. */
const running = new Set<Program>();

/** Also when this process is interrupted. */
function leaveNothing(folder: string): void {
  process.once("exit", () => {
    for (const program of running) program.signal("SIGKILL");
    // What these programs have started ends by itself, and may write until then.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
}

/** Without these, npm does not reach its registry on a machine behind a proxy. */
function network(): Record<string, string> {
  const names = /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy)$/i;
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && names.test(name) ? [[name, value]] : [],
    ),
  );
}

/** A user's shell: it remembers its folder and its variables from one block of commands to the next. */
class Shell {
  #folder: string;
  #env: Record<string, string>;

  /** It has the machine's own programs, and no settings of another installation. */
  constructor(folder: string, env: Record<string, string> = {}) {
    const { PATH = "", HOME = "" } = process.env;
    const own = PATH.split(delimiter).filter((path) => !path.startsWith(ROOT));
    this.#folder = folder;
    this.#env = { PATH: own.join(delimiter), HOME, ...network(), ...env };
  }

  set(name: string, value: string): void {
    this.#env[name] = value;
  }

  /** Runs commands to their end. @returns what they printed. @throws with it when one of them fails. */
  async run(commands: string): Promise<string> {
    const state = join(mkdtempSync(join(tmpdir(), "moneta-shell-")), "state");
    try {
      const program = this.#bash(`${commands}\nprintf '%s\\0' "$PWD" > '${state}'\nenv -0 >> '${state}'`);
      require((await program.gone()) === 0, program.output);
      const [folder = "", ...variables] = readFileSync(state, "utf8").split("\0").slice(0, -1);
      this.#folder = folder;
      this.#env = Object.fromEntries(
        variables.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
      );
      return program.output;
    } finally {
      rmSync(join(state, ".."), { recursive: true });
    }
  }

  /** Runs commands of which the last stays. @returns it, when it has printed what it prints once it is there. */
  async serve(commands: string, there: RegExp): Promise<Program> {
    const lines = commands.trimEnd().split("\n");
    const last = lines.pop() ?? "";
    const program = this.#bash([...lines, `exec ${last}`].join("\n"));
    await program.printed(there, LONGEST_MS);
    return program;
  }

  #bash(commands: string): Program {
    // A command that fails ends the block, also inside of a pipe.
    const options = ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", commands];
    const program = new Program(options, { command: "bash", cwd: this.#folder, env: this.#env, group: true });
    running.add(program);
    void program.gone().then(() => running.delete(program));
    return program;
  }
}

function secondsOf(milliseconds: number): string {
  return milliseconds < 1_000 ? "below 1 s" : `${(milliseconds / 1_000).toFixed(0)} s`;
}

async function signIn(url: string, link: string): Promise<void> {
  const page = await fetch(`${url}/console/`);
  require(page.status === 200, `the console was answered with ${page.status.toString()}`);
  const answer = await fetch(`${url}/v1/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-moneta-console": "1", origin: url },
    body: JSON.stringify({ code: link.split("=")[1] }),
  });
  require(answer.status === 200, await answer.text());
}
