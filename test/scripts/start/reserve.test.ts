import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { setDatabaseAside } from "../../../scripts/start/kept-database.ts";
import type { StartOptions } from "../../../scripts/start/options.ts";
import { Problem } from "../../../scripts/start/problem.ts";
import { reserve } from "../../../scripts/start/reserve.ts";
import { freePort } from "../../../scripts/scene/loopback.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";

describe("npm start: reserve", () => {
  const folder = useFolder();

  async function wanted(): Promise<StartOptions & { port: number; rpcPort: number }> {
    const [port, rpcPort] = [await freePort(), await freePort()];
    const dataDir = join(folder.path, "local");
    return { port, rpcPort, metricsPort: null, dataDir, tour: false, fresh: false, verbose: false };
  }

  async function refusal(options: StartOptions): Promise<string> {
    const error = await rejectionOf(reserve(options));
    expect(error).to.be.instanceOf(Problem);
    return error.message;
  }

  it("returns the options with the ports that it found", async () => {
    const options = await wanted();
    const { options: found, unlock } = await reserve({ ...options, rpcPort: 0 });
    expect(found).to.include({ port: options.port, dataDir: options.dataDir });
    expect(found.rpcPort).to.be.greaterThan(0);
    expect(found.metricsPort).to.be.a("number");
    unlock();
  });

  it("names one port for two purposes", async () => {
    const options = await wanted();
    const message = await refusal({ ...options, rpcPort: options.port });
    expect(message).to.contain(`- PORT and RPC_PORT are both ${options.port}.`);
  });

  it("explains a DATA_DIR that cannot be used", async () => {
    const file = join(folder.path, "file");
    await writeFile(file, "");
    const message = await refusal({ ...(await wanted()), dataDir: file });
    expect(message)
      .to.contain(`DATA_DIR: cannot write to the folder ${file}: it is a file, not a folder.`)
      .and.to.contain("DATA_DIR=data/local-2 npm start");
  });
});

describe("npm start: setDatabaseAside", () => {
  const folder = useFolder();
  const now = new Date("2030-01-31T12:00:00.000Z");

  it("renames the database of the previous start with its last writes, and deletes nothing", async () => {
    await writeFile(join(folder.path, "moneta.sqlite"), "rows");
    await writeFile(join(folder.path, "moneta.sqlite-wal"), "last rows");
    await writeFile(join(folder.path, "seed.jwe"), "seed");
    await writeFile(join(folder.path, "chain-state.json.gz"), "state");
    const aside = setDatabaseAside(folder.path, now)!;
    expect(aside).to.equal(join(folder.path, "moneta.2030-01-31T12-00-00.000Z.sqlite"));
    expect(await readFile(aside, "utf8")).to.equal("rows");
    expect(await readFile(`${aside}-wal`, "utf8")).to.equal("last rows");
    expect(existsSync(join(folder.path, "moneta.sqlite"))).to.equal(false);
    expect(await readdir(folder.path))
      .to.have.length(4)
      .and.include("moneta.2030-01-31T12-00-00.000Z.chain-state.json.gz");
  });

  it("puts the last writes and their database together again after a crash between two renames", async () => {
    await writeFile(join(folder.path, "moneta.sqlite"), "rows");
    await writeFile(join(folder.path, "moneta.2029-12-31T12-00-00.000Z.sqlite-wal"), "last rows");
    const aside = setDatabaseAside(folder.path, now)!;
    expect(aside).to.equal(join(folder.path, "moneta.2029-12-31T12-00-00.000Z.sqlite"));
    expect(await readFile(`${aside}-wal`, "utf8")).to.equal("last rows");
  });
});
