import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { ApiClient } from "../support/api-client.ts";
import { freePort } from "../../scripts/scene/loopback.ts";
import { TestProcess } from "../support/process.ts";
import { useFolder } from "../support/use-folder.ts";
import { occupy, released } from "./support/ports.ts";
import { serving, start } from "./support/start.ts";

interface Listed {
  address?: string;
  image?: string | null;
}

describe("npm start", () => {
  const started: TestProcess[] = [];
  // First: what runs writes into the folder.
  after(async () => {
    for (const program of started) if (!program.exited) await program.end("SIGKILL");
  });
  const folder = useFolder({ per: "block" });
  let ports: { PORT: number; RPC_PORT: number };
  let dataDir: string;

  before(async () => {
    dataDir = join(folder.path, "local");
    ports = { PORT: await freePort(), RPC_PORT: await freePort() };
  });

  function run(changed: Partial<Parameters<typeof start>[0]> = {}, args: string[] = []): TestProcess {
    const program = start({ ...ports, DATA_DIR: dataDir, ...changed }, args);
    started.push(program);
    return program;
  }

  function runWithoutTour(): TestProcess {
    return run({ TOUR: "0" });
  }

  it("runs the tour, prints a token that works, and stops after SIGINT", async () => {
    const program = run({}, ["--verbose"]);
    const token = await serving(program);
    expect(program.output).to.match(/all with a valid signature/);
    const [, completed] = /^ +(\d+) of them are "completed" events/m.exec(program.output) ?? [];
    const shared = [...program.output.matchAll(/\((\d+) requests?\)/g)].map(([, count]) => Number(count));
    expect(shared.reduce((sum, count) => sum + count, 0))
      .to.equal(Number(completed))
      .and.to.equal(120);
    // Not a terminal: no colours, and no line is drawn twice.
    expect(program.output).not.to.match(/[\r\x1b]/);
    expect(program.output.match(new RegExp(token, "g"))).to.have.length(1);
    expect(program.output.match(/^base URL: /gm)).to.have.length(1);
    expect(program.output).to.contain(`http://localhost:${ports.PORT}/docs`);
    const link = new RegExp(`^  http://localhost:${ports.PORT}/console#code=[A-Za-z0-9_-]{43}$`, "gm");
    const [consoleLink = "", ...moreLinks] = program.output.match(link) ?? [];
    expect(moreLinks).to.deep.equal([]);
    const origin = `http://localhost:${ports.PORT}`;
    const signedIn = await fetch(`${origin}/v1/console/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-moneta-console": "1", origin },
      body: JSON.stringify({ code: consoleLink.split("=")[1] }),
    });
    expect(signedIn.status).to.equal(200);
    expect(signedIn.headers.getSetCookie()[0]).to.match(/^moneta_console=/);

    const api = ApiClient.at(`http://127.0.0.1:${ports.PORT}`, token);
    const { collections } = await api.ok<{ collections: Listed[] }>("GET", "/v1/collections");
    expect(collections).to.have.length(2);
    const { nfts } = await api.ok<{ nfts: { metadata: Listed }[] }>(
      "GET",
      `/v1/collections/${collections[0]!.address}`,
    );
    // Everything that a first look at the service meets has a picture, and the service itself serves it.
    const images = [...collections, ...nfts.map(({ metadata }) => metadata)].map(({ image }) => image);
    for (const image of new Set(images)) {
      expect(image).to.match(/^ipfs:/);
      const answer = await fetch(`http://127.0.0.1:${ports.PORT}/ipfs/${image!.slice("ipfs://".length)}`);
      expect(answer.status).to.equal(200);
      expect(answer.headers.get("content-type")).to.equal("image/svg+xml");
      expect(answer.headers.get("content-security-policy")).to.match(/default-src 'none';.* sandbox$/);
    }
    expect((await api.done("/v1/collections", { type: "ERC721", name: "Own", symbol: "OWN" })).status).to.equal(
      "completed",
    );

    expect(await program.end("SIGINT")).to.equal(0);
    expect(program.output).to.match(/stopped\n$/);
    await released(ports.PORT);
    await released(ports.RPC_PORT);
  });

  for (const variable of ["PORT", "RPC_PORT"] as const) {
    it(`names ${variable} when another program listens on it, and changes nothing`, async () => {
      const files = await readdir(dataDir);
      const stranger = await occupy(ports[variable]);
      const program = runWithoutTour();
      expect(await program.gone()).to.equal(1);
      stranger.close();
      expect(program.output).to.contain(`- ${variable}: port ${ports[variable]} is in use.`);
      expect(await readdir(dataDir)).to.deep.equal(files);
    });
  }

  it("prints a CLI command that works, and names everything that is taken", async () => {
    const first = runWithoutTour();
    await serving(first);
    const [, command] = await first.printed(/^CLI: +(.+) npm run cli -- app list$/m);
    const cli = new TestProcess(["-c", `${command} "${process.execPath}" api/cli/main.ts app list`], {}, "sh");
    expect(await cli.gone(), cli.output).to.equal(0);
    expect(cli.output).to.match(/^local /m);

    const second = runWithoutTour();
    expect(await second.gone()).to.equal(1);
    expect(second.output)
      .to.contain(`- PORT: port ${ports.PORT} is in use.`)
      .and.to.contain(`- RPC_PORT: port ${ports.RPC_PORT} is in use.`)
      .and.to.contain(`- DATA_DIR: another npm start uses the folder ${dataDir}.`)
      .and.not.to.match(/^\s+at /m);
    expect(await first.end("SIGTERM")).to.equal(0);
  });

  it("ends the chain when it is killed", async () => {
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
      if (/anvil|hardhat/.test(await readFile(`/proc/${pid}/cmdline`, "utf8"))) return Number(pid);
    }
    return null;
  } catch {
    return null;
  }
}
