import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

import { anvilBinary } from "../scene/anvil.ts";
import { freePort } from "../scene/loopback.ts";
import { NodeProcess } from "../scene/node.ts";
import { Program, ROOT } from "../scene/program.ts";
import { rehearseProduction } from "./production.ts";
import { output } from "../scene/system.ts";
import { type Finding, notInstalled, require } from "./tools.ts";

const TESTNET = 84_532;
/** Coins that are more than a deployment and two lanes need, as quantity of wei. */
const COINS = "0xde0b6b3a7640000";
/** The longest step is the installation of all packages. */
const LONGEST_MS = 20 * 60_000;

/** What a new user does in the first hour, step by step, with the seconds that the machine took for each. */
export async function rehearseFirstHour(): Promise<Finding[]> {
  if (anvilBinary() === null) return [notInstalled("first hour", "anvil", "none: it comes with npm on Linux on x64")];
  const folder = mkdtempSync(join(tmpdir(), "moneta-first-hour-"));
  const steps = new Steps(join(folder, "moneta"));
  try {
    await steps.take("git clone", () => output("git", ["clone", "--quiet", ROOT, steps.checkout]));
    const moneta = await steps.take("npm start: installation, chain, service, tour, until it serves", () =>
      begin(steps),
    );
    try {
      await steps.take("the console opens, and its link signs in", () => signIn(moneta));
      await steps.take("npm run client:pack, with the installation of the packages for development", () =>
        steps.npm(["run", "client:pack"]),
      );
      await steps.take("an app of one's own: create-moneta-app, npm install, npm start, its collection, a mint", () =>
        ownApp(steps, folder, moneta),
      );
    } finally {
      await moneta.program.end("SIGINT", 30_000);
    }
    await steps.take("init on a test network (Anvil, a block each second), until the service is ready", () =>
      testNetwork(steps, folder),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const production = await steps.take("as in production: PostgreSQL, PgBouncer, nginx", rehearseProduction);
  return [...steps.findings, ...production];
}

interface Moneta {
  program: Program;
  url: string;
  token: string;
  consoleLink: string;
}

class Steps {
  readonly checkout: string;
  readonly findings: Finding[] = [];
  /** A user's shell: the machine's own programs, and no settings of another installation. */
  readonly env: Record<string, string>;

  constructor(checkout: string) {
    this.checkout = checkout;
    const { PATH = "", HOME = "" } = process.env;
    const own = PATH.split(delimiter).filter((path) => !path.startsWith(ROOT));
    this.env = { PATH: own.join(delimiter), HOME };
  }

  async take<T>(what: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now();
    const result = await work();
    this.findings.push({ what, result: `${((performance.now() - began) / 1_000).toFixed(0)} s` });
    return result;
  }

  /** Runs npm to its end. */
  async npm(args: string[], cwd = this.checkout): Promise<string> {
    const program = this.program("npm", args, cwd);
    require((await program.gone()) === 0, program.output);
    return program.output;
  }

  program(command: string, args: string[], cwd = this.checkout, more: Record<string, string> = {}): Program {
    return new Program(args, { command, cwd, env: { ...this.env, ...more } });
  }
}

async function begin(steps: Steps): Promise<Moneta> {
  const [port, rpcPort] = [await freePort(), await freePort()];
  const settings = { PORT: port.toString(), RPC_PORT: rpcPort.toString(), METRICS_PORT: "0" };
  const program = steps.program("npm", ["start"], steps.checkout, settings);
  await program.printed(/^serving/m, LONGEST_MS);
  const [, token = ""] = await program.printed(/^token: (\S+)$/m);
  const [consoleLink = ""] = await program.printed(/http:\S+\/console#code=\S+/);
  return { program, url: `http://localhost:${port.toString()}`, token, consoleLink };
}

async function signIn({ url, consoleLink }: Moneta): Promise<void> {
  const page = await fetch(`${url}/console/`);
  require(page.status === 200, `the console was answered with ${page.status.toString()}`);
  const answer = await fetch(`${url}/v1/console/session`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-moneta-console": "1", origin: url },
    body: JSON.stringify({ code: consoleLink.split("=")[1] }),
  });
  require(answer.status === 200, await answer.text());
}

async function ownApp(steps: Steps, folder: string, { url, token }: Moneta): Promise<void> {
  const [client, starter] = ["moneta-client", "create-moneta-app"].map((name) =>
    output("sh", ["-c", `ls ${join(steps.checkout, "dist", name)}-*.tgz`]),
  );
  const names = ["exec", "--yes", `--package=${(await starter) ?? ""}`, "--", "create-moneta-app", "my-app"];
  await steps.npm([...names, "--url", url, "--client", (await client) ?? ""], folder);
  const app = join(folder, "my-app");
  await steps.npm(["install", "--no-audit", "--no-fund"], app);
  const port = (await freePort()).toString();
  const program = steps.program("node", ["--env-file=.env", "server.js"], app, { MONETA_TOKEN: token, PORT: port });
  try {
    await program.printed(/The app is open/);
    const form = { method: "POST", body: new URLSearchParams({ user: "alice", key: "first" }) };
    const answer = await fetch(`http://127.0.0.1:${port}/mint`, form);
    require(answer.status === 200, await answer.text());
    await program.printed(/^completed: request \S+, token 1$/m);
  } finally {
    await program.end("SIGTERM");
  }
}

/** Answers nothing by hand: the settings are in the environment, and the words are not shown. */
async function testNetwork(steps: Steps, folder: string): Promise<void> {
  const node = await NodeProcess.anvil(["--block-time", "1"], { chainId: TESTNET });
  const program = steps.program("npm", ["run", "cli", "--", "init", "--without-words"], steps.checkout, {
    RPC_URL: node.url,
    PUBLIC_URL: "https://nft.example.com",
    DATA_DIR: join(folder, "testnet"),
    DEPLOYMENTS_DIR: join(folder, "deployments"),
    PORT: (await freePort()).toString(),
  });
  try {
    const [, deployer = ""] = await program.printed(/to the deployer: (0x\w{40})/, LONGEST_MS);
    await node.provider.send("anvil_setBalance", [deployer, COINS]);
    await program.printed(/Moneta is ready on /, LONGEST_MS);
  } finally {
    await program.end("SIGTERM", 30_000);
    await node.stop();
  }
}
