import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { ApiClient } from "../support/api-client.ts";
import { freePort } from "../../scripts/nodes/free-port.ts";
import type { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/service.ts";
import { occupy, released } from "./support/ports.ts";
import { serving, start } from "./support/start.ts";

describe("npm start", function () {
  this.timeout(120_000);
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let ports: { PORT: number; RPC_PORT: number };
  let dataDir: string;
  const started: TestProcess[] = [];

  before(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, "local");
    ports = { PORT: await freePort(), RPC_PORT: await freePort() };
  });
  after(async () => {
    for (const program of started) if (!program.exited) await program.end("SIGKILL");
    await folder.remove();
  });

  function run(changed: Partial<Parameters<typeof start>[0]> = {}): TestProcess {
    const program = start({ ...ports, DATA_DIR: dataDir, ...changed });
    started.push(program);
    return program;
  }

  function runWithoutTour(): TestProcess {
    return run({ TOUR: "0" });
  }

  it("makes the tour, serves the token that it prints, and is gone after SIGINT", async () => {
    const program = run();
    const token = await serving(program);
    expect(program.output).to.match(/every signature was right/);
    const shared = [...program.output.matchAll(/\((\d+) requests\)/g)].map(([, count]) => Number(count));
    expect(shared.reduce((sum, count) => sum + count, 0)).to.equal(100);
    // Not a terminal: nothing is drawn over.
    expect(program.output).not.to.contain("\r");
    expect(program.output).to.contain("minted 100/100");

    const api = new ApiClient(`http://127.0.0.1:${ports.PORT}`, token);
    const { total } = await api.ok<{ total: number }>("GET", "/v1/collections");
    expect(total).to.equal(2);
    expect((await api.done("/v1/collections", { type: "ERC721", name: "Own", symbol: "OWN" })).status).to.equal(
      "completed",
    );

    expect(await program.end("SIGINT")).to.equal(0);
    expect(program.output).to.match(/stopped\n$/);
    await released(ports.PORT);
    await released(ports.RPC_PORT);
  });

  it("sets the database of the start before aside, and deletes nothing", async () => {
    const program = runWithoutTour();
    await serving(program);
    const [, aside] = await program.printed(/The old one is set aside: (\S+)\n/);
    expect((await stat(aside!)).size).to.be.greaterThan(0);
    expect(await readdir(dataDir)).to.include("moneta.sqlite");
    expect(program.output).not.to.contain("Create two wallets");
    expect(await program.end("SIGTERM")).to.equal(0);
    await released(ports.RPC_PORT);
  });

  for (const variable of ["PORT", "RPC_PORT"] as const) {
    it(`names ${variable} when somebody listens on it, and changes nothing`, async () => {
      const files = await readdir(dataDir);
      const stranger = await occupy(ports[variable]);
      const program = runWithoutTour();
      expect(await program.gone()).to.equal(1);
      stranger.close();
      expect(program.output).to.contain(`Port ${ports[variable]} is in use. Choose another with ${variable}`);
      expect(await readdir(dataDir)).to.deep.equal(files);
    });
  }

  it("names every setting that is wrong", async () => {
    const program = run({ PORT: 65_536, RPC_PORT: -1 });
    expect(await program.gone()).to.equal(1);
    expect(program.output)
      .to.match(/^- PORT must be/m)
      .and.to.match(/^- RPC_PORT must be/m);
  });

  it("keeps out of a folder that another start uses", async () => {
    const first = runWithoutTour();
    await serving(first);
    const second = run({ PORT: await freePort(), RPC_PORT: await freePort() });
    expect(await second.gone()).to.equal(1);
    expect(second.output).to.contain("Choose another with DATA_DIR");
    expect(await first.end("SIGTERM")).to.equal(0);
  });

  it("takes the chain with it when it is killed", async () => {
    const program = runWithoutTour();
    await serving(program);
    await program.end("SIGKILL");
    await released(ports.RPC_PORT);
  });

  it("ends with an error when the chain ends", async function () {
    const program = runWithoutTour();
    await serving(program);
    const chain = await chainOf(program.child.pid!);
    if (chain === null) this.skip();
    process.kill(chain, "SIGKILL");
    expect(await program.gone()).to.equal(1);
    expect(program.output).to.contain("The local chain has ended (SIGKILL)");
    await released(ports.PORT);
  });
});

/** The process id of the chain, or null where the system does not tell. */
async function chainOf(parent: number): Promise<number | null> {
  try {
    const children = await readFile(`/proc/${parent}/task/${parent}/children`, "utf8");
    for (const pid of children.trim().split(" ")) {
      if ((await readFile(`/proc/${pid}/cmdline`, "utf8")).includes("hardhat")) return Number(pid);
    }
    return null;
  } catch {
    return null;
  }
}
