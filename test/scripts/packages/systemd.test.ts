import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, readlink, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import { VARIABLES } from "../../../api/config/variables.ts";
import { useFolder } from "../../support/use-folder.ts";
import { ROOT } from "../../support/process.ts";
import { projectFile } from "../support/project-file.ts";

const HOME = "/opt/moneta";
const unit = [...projectFile("ops/moneta.service").matchAll(/^(\w+)=(.*)$/gm)];

function values(key: string): string[] {
  return unit.filter(([, name]) => name === key).map(([, , value]) => value!);
}

describe("ops/moneta.service", () => {
  it("starts the service with the Node that install-node puts there", () => {
    const [program, entry] = values("ExecStart")[0]!.split(" ");
    expect(values("WorkingDirectory")).to.deep.equal([HOME]);
    expect(program).to.equal(`${HOME}/runtime/bin/node`);
    expect(projectFile("docs/install.md")).to.contain(`ops/install-node ${HOME}/runtime\n`);
    expect(existsSync(join(ROOT, entry!)), entry).to.equal(true);
  });

  it("sets valid settings, and keeps the data in the folder that it may write", () => {
    const pairs = values("Environment").flatMap((line) => line.split(" ").map((pair) => pair.split("=")));
    const { NODE_ENV, ...settings } = Object.fromEntries(pairs) as Record<string, string>;
    expect(NODE_ENV).to.equal("production");
    expect(Object.keys(VARIABLES)).to.include.members(Object.keys(settings));
    expect(parseSettings(settings).dataDir).to.equal(`/var/lib/${values("StateDirectory")[0]!}`);
    expect(values("ProtectSystem")).to.deep.equal(["strict"]);
  });

  it("gives the service as long to stop as Compose does", () => {
    const grace = /stop_grace_period: (\d+)s/.exec(projectFile("compose.yaml"))![1];
    expect(values("TimeoutStopSec")).to.deep.equal([grace]);
    expect(values("KillSignal")).to.deep.equal(["SIGTERM"]);
  });
});

describe("ops/install-node", () => {
  const script = projectFile("ops/install-node");
  const folder = useFolder();
  let programs: string;

  beforeEach(async () => {
    programs = join(folder.path, "programs");
    await mkdir(programs);
  });

  /** A program that comes first on PATH. */
  async function program(name: string, lines: string): Promise<void> {
    await writeFile(join(programs, name), `#!/bin/sh\n${lines}\n`);
    await chmod(join(programs, name), 0o755);
  }
  function install() {
    const env = { PATH: `${programs}:/usr/bin:/bin` };
    const target = join(folder.path, "runtime");
    const ran = spawnSync("sh", [join(ROOT, "ops/install-node"), target], { env, encoding: "utf8" });
    return { status: ran.status, output: ran.stdout + ran.stderr, node: join(target, "bin/node") };
  }

  it("links the system's Node if it is 24 or newer", async () => {
    await program("node", "case $1 in -p) echo 24 ;; *) echo v24.0.0 ;; esac");
    const { status, output, node } = install();
    expect([status, await readlink(node)]).to.deep.equal([0, join(programs, "node")]);
    expect(output).to.contain("the system's Node");
  });

  for (const [name, lines] of [
    ["an older Node", "echo 23"],
    ["a Node that does not run", "exit 1"],
  ] as const)
    it(`refuses a package with another checksum, given ${name}, and installs nothing`, async () => {
      await program("node", lines);
      // A registry that serves other bytes under the same name.
      await program("npm", 'echo other > "$4/$(echo "$2" | tr @ -).tgz"');
      const { status, output, node } = install();
      expect([status, existsSync(node)], output).to.deep.equal([1, false]);
      expect(output).to.contain("has another checksum than expected. Nothing was installed");
    });

  it("never links a Node of the packages, whose checksum is in no lock file", async () => {
    const bin = join(folder.path, "node_modules/node/bin");
    await mkdir(bin, { recursive: true });
    await writeFile(join(bin, "node"), "#!/bin/sh\necho 24\n", { mode: 0o755 });
    await symlink(join(bin, "node"), join(programs, "node"));
    await program("npm", "exit 1");
    const { status, output, node } = install();
    expect([status, existsSync(node)]).to.deep.equal([1, false]);
    expect(output).to.contain("npm cannot download");
  });

  it("pins the version that the packages name", () => {
    const { dependencies } = JSON.parse(projectFile("package.json")) as {
      dependencies: Record<string, string>;
    };
    expect(/^VERSION=(.+)$/m.exec(script)?.[1]).to.equal(dependencies["node"]);
    for (const [, checksum] of script.matchAll(/^SHA512_\w+=(.+)$/gm))
      expect(Buffer.from(checksum!, "base64")).to.have.length(64);
  });
});
