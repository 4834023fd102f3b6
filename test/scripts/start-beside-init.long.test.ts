import { cp, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseEnv } from "node:util";

import { expect } from "chai";

import { freePort } from "../../scripts/scene/loopback.ts";
import { Program } from "../../scripts/scene/program.ts";
import { ApiClient } from "../support/api-client.ts";
import { useAnvil } from "../support/use-anvil.ts";
import { useFolder } from "../support/use-folder.ts";
import { serving } from "./support/start.ts";

interface Examination {
  result: string;
  findings: { check: string; result: string; words: string }[];
}

/** Both in one checkout, as people who try the service first and then set up a test network. */
describe("npm start beside the .env of init", () => {
  const programs: Program[] = [];
  // First: what runs writes into the folder.
  after(async () => {
    for (const program of programs) if (!program.exited) await program.end("SIGKILL");
  });
  const folder = useFolder({ per: "block" });
  const node = useAnvil(424_242);
  let ports: Record<"PORT" | "RPC_PORT" | "METRICS_PORT", string>;
  let port: string;

  /** What the scripts of package.json call, in the checkout. */
  function run(args: string[], env: Record<string, string> = {}): Program {
    const { PATH, HOME } = process.env;
    const program = new Program(["scripts/setup/run.mjs", "--no-dev", ...args], {
      cwd: folder.path,
      env: { PATH, HOME, ...env },
    });
    programs.push(program);
    return program;
  }

  async function cli(args: string[], env: Record<string, string> = {}): Promise<string> {
    const command = run(["api/cli/main.ts", ...args], env);
    await command.gone();
    return command.output;
  }

  async function examine(env: Record<string, string> = {}): Promise<Examination> {
    return JSON.parse(await cli(["doctor", "--json"], env)) as Examination;
  }

  const notOk = ({ findings }: Examination) => findings.filter(({ result }) => result !== "ok");
  const LOCAL = { DATA_DIR: "data/local" };

  before(async () => {
    for (const name of ["scripts", "api", "client", "console", "contracts", "node_modules"]) {
      if (name === "scripts") await mkdir(join(folder.path, name));
      else await symlink(resolve(name), join(folder.path, name), "junction");
    }
    await cp("scripts/setup", join(folder.path, "scripts/setup"), { recursive: true });
    await symlink(resolve("scripts/start"), join(folder.path, "scripts/start"), "junction");
    for (const name of ["package.json", "package-lock.json"]) await cp(name, join(folder.path, name));
    const [api, rpc, metrics] = [await freePort(), await freePort(), await freePort()].map(String);
    ports = { PORT: api!, RPC_PORT: rpc!, METRICS_PORT: metrics! };
    port = String(await freePort());
  });

  it("init sets up a chain, and doctor is green at once and after the first requests", async () => {
    const env = { RPC_URL: node.url, PUBLIC_URL: "https://nft.example", PORT: port };
    const begun = run(["api/cli/main.ts", "init", "--without-words"], env);
    const [, coins, deployer] = await begun.printed(/^Send ([\d.]+) .* to the deployer: (0x\w{40})$/m);
    // Exactly what it asks for.
    await node.provider.send("anvil_setBalance", [
      deployer,
      `0x${BigInt(Math.round(Number(coins) * 1e18)).toString(16)}`,
    ]);
    const [, token] = await begun.printed(/^token: (\S+)$/m);
    expect(notOk(await examine())).to.deep.equal([]);

    const api = ApiClient.at(`http://127.0.0.1:${port}`, token!);
    const collection = await api.collection({ type: "ERC721" });
    const { address } = await api.ok<{ address: string }>("POST", "/v1/accounts", { user_identifier: "alice" });
    const minted = await api.done("/v1/nfts", { collection_address: collection, to_address: address, name: "One" });
    expect(minted.status).to.equal("completed");
    expect(notOk(await examine())).to.deep.equal([]);
    expect(await begun.end("SIGINT")).to.equal(0);
  });

  it("the commands of npm start use its settings, not those of .env", async () => {
    const started = run(["scripts/start/main.ts"], { ...ports, TOUR: "0" });
    await serving(started);
    expect(started.output).to.match(/^CLI: +DATA_DIR=data\/local npm run cli -- app list$/m);
    const file = join(folder.path, "data/local/start.env");
    expect((await stat(file)).mode & 0o777).to.equal(0o600);
    expect(parseEnv(await readFile(file, "utf8"))).to.deep.equal({
      PORT: ports.PORT,
      METRICS_PORT: ports.METRICS_PORT,
      DATA_DIR: "data/local",
      DEPLOYMENTS_DIR: "data/local/deployments",
      DATABASE_URL: "file:data/local/moneta.sqlite",
      RPC_URL: `http://127.0.0.1:${ports.RPC_PORT}`,
    });

    expect(await cli(["console"], LOCAL)).to.match(new RegExp(`^http://localhost:${ports.PORT}/console#code=`));
    expect(notOk(await examine(LOCAL))).to.deep.equal([]);
    // Without the folder, they are those of the test network.
    expect(await cli(["console"])).to.match(/^https:\/\/nft\.example\/console#code=/);
  });

  it("doctor says that the environment has another value, and init that the folder is not its own", async () => {
    const found = notOk(await examine({ ...LOCAL, PORT: "9" }));
    expect(found.map(({ words }) => words)).to.include(
      "PORT: the environment has another value than data/local/start.env, and takes precedence. Unset it in the shell, or correct the file.",
    );
    expect(await cli(["init"], LOCAL)).to.match(/^The folder data\/local belongs to `npm start`\./);
    expect(await cli(["doctor"], { ...LOCAL, LANES: "x" })).to.match(
      /^Invalid settings\. Correct them in the environment or in data\/local\/start\.env:$/m,
    );
  });
});
