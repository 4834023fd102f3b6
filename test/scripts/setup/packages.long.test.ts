import { spawnSync } from "node:child_process";
import { cp, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { useFolder } from "../../support/use-folder.ts";

describe("scripts/setup/run.mjs and the packages", function () {
  const folder = useFolder();

  before(function () {
    // The stand-in for npm makes a symbolic link to a program.
    if (process.platform === "win32") this.skip();
  });
  beforeEach(async () => {
    await cp("scripts/setup", join(folder.path, "scripts/setup"), { recursive: true });
    await writeLock({ chai: "6.0.0" });
  });

  /** The packages of the project: one for running, one for tests, the local chain with its native package for two systems. */
  async function writeLock(dev: Record<string, string>) {
    const packages = {
      "": {},
      "node_modules/express": { version: "5.0.0" },
      "node_modules/hardhat": { version: "3.0.0", devOptional: true },
      "node_modules/@nomicfoundation/edr-this": { version: "0.1.0", optional: true },
      "node_modules/@nomicfoundation/edr-other": { version: "0.1.0", optional: true },
      ...Object.fromEntries(
        Object.entries(dev).map(([name, version]) => [`node_modules/${name}`, { version, dev: true }]),
      ),
    };
    await writeFile(join(folder.path, "package-lock.json"), JSON.stringify({ packages }));
  }

  async function changeVersionInLock() {
    const file = join(folder.path, "package-lock.json");
    await writeFile(file, (await readFile(file, "utf8")).replace("5.0.0", "5.0.1"));
  }

  /** Runs one command. FAKE_NPM says how npm behaves. */
  async function run(option: "--no-dev" | "all", behaviour = "") {
    const args = option === "all" ? [] : [option];
    const env = { ...process.env, npm_execpath: resolve("test/scripts/support/npm-cli.js"), FAKE_NPM: behaviour };
    const { status, stderr } = spawnSync(process.execPath, ["scripts/setup/run.mjs", ...args], {
      cwd: folder.path,
      encoding: "utf8",
      env,
    });
    return { status, stderr, calls: await takeCalls() };
  }

  /** The arguments of each call of npm since the last time. See test/scripts/support/npm-cli.js. */
  async function takeCalls(): Promise<string[]> {
    const file = join(folder.path, "npm-calls");
    if (!existsSync(file)) return [];
    const lines = (await readFile(file, "utf8")).trim().split("\n");
    await rm(file);
    return lines;
  }

  const SMALL = "ci --omit=dev --include=optional";
  const ALL = "ci --include=dev --include=optional";
  const ADD = "install --no-save --include=dev --include=optional";

  describe("given no packages", () => {
    it("installs with --no-dev what runs the service and a local chain, and says what comes later", async () => {
      const { status, stderr, calls } = await run("--no-dev");
      expect([status, calls]).to.deep.equal([0, [SMALL]]);
      expect(stderr).to.match(
        /installing packages with npm ci: about \d+ MB, usually 30 seconds to 2 minutes\. Tests and /,
      );
      expect(stderr).to.match(/Tests and development need \d+ MB more, which the first such command installs\n/);
      expect(stderr).to.match(/the packages are installed, after \d+ s\n$/);
      // Nothing of npm.
      for (const line of stderr.trimEnd().split("\n")) expect(line).to.match(/^moneta: /);
    });

    it("installs all packages without the option", async () => {
      const { status, stderr, calls } = await run("all");
      expect([status, calls]).to.deep.equal([0, [ALL]]);
      expect(stderr).to.match(/installing packages with npm ci: about \d+ MB, usually 30 seconds to 2 minutes\n/);
    });

    it("runs npm again with the next command when npm failed, and none when it succeeded", async () => {
      const failed = await run("--no-dev", "ci fails");
      expect([failed.status, failed.calls]).to.deep.equal([1, [SMALL]]);
      expect(failed.stderr).to.contain(
        "added 9 packages\nnpm warn deprecated\nmoneta: npm ci failed (exit code 9). Its messages are above.",
      );
      expect((await run("--no-dev")).calls).to.deep.equal([SMALL]);
      expect(await run("--no-dev")).to.deep.equal({ status: 0, stderr: "", calls: [] });
    });

    it("names a package that npm left out although it succeeded, and tries again with the next command", async () => {
      for (const left of ["hardhat", "@nomicfoundation/edr-this"]) {
        const { status, stderr } = await run("--no-dev", `leaves out ${left}`);
        expect(status, left).to.equal(1);
        expect(stderr).to.match(/npm did not install (hardhat|@nomicfoundation\/edr-\.\.\.)\. Run the command again\./);
      }
      expect(await run("--no-dev"))
        .to.include({ status: 0 })
        .and.to.have.deep.property("calls", [SMALL]);
    });
  });

  describe("given the packages of --no-dev", () => {
    beforeEach(async () => {
      await run("--no-dev");
    });

    it("adds the others for a command that needs them, without touching what is there", async () => {
      const { status, stderr, calls } = await run("all");
      expect([status, calls]).to.deep.equal([0, [ADD]]);
      expect(stderr).to.match(/adding the packages for tests and development: about \d+ MB more, usually 30 /);
      expect((await run("all")).calls).to.deep.equal([]);
    });

    it("installs all of them again when adding fails or leaves one out", async () => {
      for (const behaviour of ["install fails", "install leaves out chai"]) {
        const { status, stderr, calls } = await run("all", behaviour);
        expect([status, calls], behaviour).to.deep.equal([0, [ADD, ALL]]);
        expect(stderr).to.contain("adding packages failed, so all packages are installed again with npm ci");
        await rm(join(folder.path, "node_modules"), { recursive: true });
        await run("--no-dev");
      }
    });

    it("installs those of --no-dev again after a change of the lock file", async () => {
      await changeVersionInLock();
      expect((await run("--no-dev")).calls).to.deep.equal([SMALL]);
    });

    it("does not notice a change of the lock file that concerns other packages", async () => {
      await writeLock({ chai: "7.0.0" });
      expect(await run("--no-dev")).to.deep.equal({ status: 0, stderr: "", calls: [] });
    });
  });

  describe("given all packages", () => {
    beforeEach(async () => {
      await run("all");
    });

    it("needs no installation with --no-dev", async () => {
      expect(await run("--no-dev")).to.deep.equal({ status: 0, stderr: "", calls: [] });
    });

    it("adds those again that somebody has removed with npm", async () => {
      const record = join(folder.path, "node_modules/.package-lock.json");
      const { packages } = JSON.parse(await readFile(record, "utf8")) as { packages: Record<string, unknown> };
      delete packages["node_modules/chai"];
      await writeFile(record, JSON.stringify({ packages }));
      expect((await run("--no-dev")).calls).to.deep.equal([]);
      expect((await run("all")).calls).to.deep.equal([ADD]);
    });

    it("stays complete when a command with --no-dev installs after a change of the lock file", async () => {
      await changeVersionInLock();
      const { stderr, calls } = await run("--no-dev");
      expect(calls).to.deep.equal([ALL]);
      expect(stderr).to.not.contain("Tests and development need");
    });

    it("accepts packages that somebody has installed with npm", async () => {
      await rm(join(folder.path, "node_modules/.moneta-installed"));
      expect(await run("all")).to.deep.equal({ status: 0, stderr: "", calls: [] });
    });
  });
});
