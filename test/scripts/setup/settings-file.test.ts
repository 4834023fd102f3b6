import { spawnSync } from "node:child_process";
import { chmod, cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { useFolder } from "../../support/use-folder.ts";

describe("scripts/setup/run.mjs: the settings of the service", () => {
  const folder = useFolder();

  beforeEach(async () => {
    await cp("scripts/setup", join(folder.path, "scripts/setup"), { recursive: true });
    for (const file of ["package.json", "package-lock.json"]) await cp(file, join(folder.path, file));
    await symlink(resolve("node_modules"), join(folder.path, "node_modules"), "junction");
    await mkdir(join(folder.path, "api"));
    await writeFile(
      join(folder.path, "api/print.ts"),
      "const { RPC_URL, LANES, MONETA_SETTINGS_FILE } = process.env;\nconsole.log(JSON.stringify({ RPC_URL, LANES, MONETA_SETTINGS_FILE }));\n",
    );
    await writeFile(join(folder.path, ".env"), "RPC_URL=http://testnet\nLANES=4\n");
    await mkdir(join(folder.path, "data/local"), { recursive: true });
    await writeFile(join(folder.path, "data/local/start.env"), "RPC_URL=http://local\n", { mode: 0o600 });
  });

  function run(env: Record<string, string> = {}) {
    const clean = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !["DATA_DIR", "RPC_URL", "LANES"].includes(name)),
    );
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ["scripts/setup/run.mjs", "--no-dev", "api/print.ts"],
      { cwd: folder.path, encoding: "utf8", env: { ...clean, ...env } },
    );
    return { status, stderr, settings: (stdout === "" ? null : JSON.parse(stdout)) as unknown };
  }

  it("come from .env", () => {
    const settings = { RPC_URL: "http://testnet", LANES: "4", MONETA_SETTINGS_FILE: ".env" };
    expect(run()).to.deep.equal({ status: 0, stderr: "", settings });
  });

  it("come from the file of `npm start` alone when DATA_DIR names its folder", () => {
    const settings = { RPC_URL: "http://local", MONETA_SETTINGS_FILE: join("data", "local", "start.env") };
    expect(run({ DATA_DIR: "data/local" })).to.deep.equal({ status: 0, stderr: "", settings });
  });

  it("come from the environment first", () => {
    const { settings } = run({ DATA_DIR: "data/local", RPC_URL: "http://mine" });
    expect(settings).to.include({ RPC_URL: "http://mine" });
  });

  it("come from .env when only .env names the folder of `npm start`", async () => {
    await writeFile(join(folder.path, ".env"), "RPC_URL=http://testnet\nDATA_DIR=data/local\n");
    expect(run().settings).to.include({ RPC_URL: "http://testnet", MONETA_SETTINGS_FILE: ".env" });
  });

  it("come from the environment alone when there is no file", async () => {
    await rm(join(folder.path, ".env"));
    expect(run({ LANES: "2", MONETA_SETTINGS_FILE: "left" }).settings).to.deep.equal({ LANES: "2" });
  });

  it("do not come from a file of `npm start` that another user can write", async function () {
    if (process.platform === "win32") this.skip();
    await chmod(join(folder.path, "data/local/start.env"), 0o620);
    const { status, stderr, settings } = run({ DATA_DIR: "data/local" });
    expect({ status, settings }).to.deep.equal({ status: 1, settings: null });
    expect(stderr).to.equal(
      "moneta: data/local/start.env is not used: another user can write to it. Remove it, and run `npm start` again.\n",
    );
  });
});
