import { spawnSync } from "node:child_process";
import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import { expect } from "chai";

import { useFolder } from "../../support/use-folder.ts";

describe("scripts/setup/run.mjs in a checkout without build output", () => {
  const folder = useFolder();

  beforeEach(async () => {
    await cp("scripts/setup", join(folder.path, "scripts/setup"), { recursive: true });
    for (const file of ["package.json", "package-lock.json", "tsconfig.json"]) await cp(file, join(folder.path, file));
    await symlink(resolve("node_modules"), join(folder.path, "node_modules"), "junction");
    await mkdir(join(folder.path, "contracts"));
    // Hardhat fails immediately, so the test does not wait for a whole build.
    await writeFile(join(folder.path, "hardhat.config.ts"), 'throw new Error("Hardhat was started");\n');
    await writeFile(join(folder.path, "entry.ts"), 'console.log("entry runs");\n');
  });

  function run(...args: string[]) {
    return spawnSync(process.execPath, ["scripts/setup/run.mjs", ...args], { cwd: folder.path, encoding: "utf8" });
  }

  it("runs an entry without compiling", () => {
    const { status, stdout, stderr } = run("entry.ts");
    expect([status, stdout, stderr]).to.deep.equal([0, "entry runs\n", ""]);
  });

  it("compiles first with --build, and does not run the entry when that fails", () => {
    const { status, stdout, stderr } = run("--build", "entry.ts");
    expect([status, stdout]).to.deep.equal([1, ""]);
    expect(stderr).to.contain("compiling the contracts").and.to.contain("Hardhat was started");
    expect(stderr).to.contain("hardhat build failed");
  });
});
