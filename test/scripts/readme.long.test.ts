import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect } from "chai";

import { freePort } from "../../scripts/scene/loopback.ts";
import { ROOT, type TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/folder.ts";
import { serving, start } from "./support/start.ts";

const WALK = "## The main job, with curl\n";

describe("README.md", () => {
  let readme: string;
  before(async () => {
    readme = await readFile(join(ROOT, "README.md"), "utf8");
  });

  describe("the walk with curl", () => {
    let folder: Awaited<ReturnType<typeof temporaryFolder>>;
    let program: TestProcess | undefined;
    before(async () => {
      folder = await temporaryFolder();
    });
    after(async () => {
      await program?.end("SIGTERM");
      await folder.remove();
    });

    it("works when it is pasted into a shell, also twice", async function () {
      if ((await shell("command -v curl")).code !== 0) this.skip();
      const port = await freePort();
      program = start({ PORT: port, RPC_PORT: await freePort(), DATA_DIR: folder.path, TOUR: "0" });
      const token = await serving(program);
      const [section] = readme.slice(readme.indexOf(WALK) + WALK.length).split("\n## ");
      const script = blocks(section!, "bash")
        .join("\n")
        .replace(/^export MONETA_TOKEN=.*$/m, `export MONETA_TOKEN=${token}`)
        .replace("http://localhost:3000", `http://localhost:${port}`);
      const pastes = 2;
      const { output, code } = await shell(Array.from({ length: pastes }, () => script).join("\n"));
      expect(code, output).to.equal(0);

      const answers = output.split("\n");
      const done = answers.filter((line) => line.includes('"status":'));
      expect(done).to.have.length(pastes * (script.match(/^(REQUEST=|done_with \$\()/gm) ?? []).length);
      for (const line of done) expect(line).to.contain('"status":"completed"');
      expect(output).to.match(/^alice has 0x[0-9a-fA-F]{40}, bob has 0x[0-9a-fA-F]{40}$/m);
      expect(output).to.contain('"name":"Cat 1"');
      // Once for Alice, then for Bob, of each paste.
      expect(answers.filter((line) => line.includes("The cat sleeps in the attic."))).to.have.length(2 * pastes);
      expect(output).to.match(/"owners":\[(\{[^}]*\},?){2}\]/);
      // The output that the README shows.
      const [expected] = blocks(section!, "text");
      expect(answers.filter((line) => line === expected!.trim())).to.have.length(pastes);
    });
  });
});

function blocks(markdown: string, language: string): string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\n([^]*?)^\`\`\``, "gm"))].map(([, content]) => content!);
}

/** Bash reads the lines one by one, as when they are pasted. */
async function shell(lines: string): Promise<{ output: string; code: number | null }> {
  const bash = spawn("bash", ["--norc"], { stdio: ["pipe", "pipe", "pipe"] });
  bash.stdin.end(lines);
  const [output, errors] = await Promise.all([text(bash.stdout), text(bash.stderr), once(bash, "close")]);
  return { output: output + errors, code: bash.exitCode };
}
