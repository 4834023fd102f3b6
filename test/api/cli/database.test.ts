import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";

import { DatabaseMissing } from "../../../api/store/db/errors.ts";
import { describeOn } from "../../support/engine.ts";
import { TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

describeOn("sqlite", "command line: which database it uses", () => {
  const started: TestProcess[] = [];
  // First: what runs writes into the folder.
  afterEach(async () => {
    for (const program of started.splice(0)) if (!program.exited) await program.end("SIGKILL");
  });
  const folder = useFolder();
  let dataDir: string;
  beforeEach(() => {
    dataDir = join(folder.path, "data");
  });

  function run(entry: string, args: string[], env: Record<string, string>): TestProcess {
    const program = new TestProcess([entry, ...args], env);
    started.push(program);
    return program;
  }

  describe("given no database", () => {
    for (const command of [
      "app list",
      "app remove a",
      "token create a",
      "token list a",
      "token rotate x",
      "token revoke x",
      "request list",
      "request show x",
      "webhook show a",
      "webhook deliveries a",
      "webhook disable a",
      "webhook redeliver x",
      "media collect",
      "keys rotate",
      "doctor",
      "reconcile",
    ]) {
      it(`${command} names the missing file and creates nothing`, async () => {
        const error = await rejectionOf(runCli({ DATA_DIR: dataDir }, ...command.split(" ")));
        expect(error).to.be.instanceOf(DatabaseMissing);
        expect(error.message).to.contain(`There is no database at ${join(dataDir, "moneta.sqlite")}. `);
        expect(error.message).to.match(/DATA_DIR/);
        expect(await readdir(folder.path)).to.deep.equal([]);
      });
    }

    it("migrate creates it, and its tables, and can be repeated", async () => {
      const first = await runCli({ DATA_DIR: dataDir }, "migrate");
      expect(first.output).to.equal("The database is up to date.\n");
      expect(first.remarks).to.contain(`Created a new database at ${join(dataDir, "moneta.sqlite")}.`);
      expect(await jsonOfCli<unknown[]>({ DATA_DIR: dataDir }, "app", "list")).to.deep.equal([]);
      expect(await runCli({ DATA_DIR: dataDir }, "migrate")).to.deep.equal({ ...first, remarks: "" });
    });

    it("app create creates it and says so", async () => {
      const ran = await runCli({ DATA_DIR: dataDir }, "app", "create", "first");
      expect(ran.remarks).to.contain(`Created a new database at ${join(dataDir, "moneta.sqlite")}.`);
      expect(await jsonOfCli<{ name: string }[]>({ DATA_DIR: dataDir }, "app", "list")).to.have.length(1);
      expect((await runCli({ DATA_DIR: dataDir }, "app", "create", "second")).remarks).to.equal("");
    });
  });

  it("given a database of npm start: names its folder when the chosen one has no database", async () => {
    // The project's folder is the working directory, so the hint depends on the file data/local/moneta.sqlite there.
    await mkdir(join(folder.path, "data", "local"), { recursive: true });
    await writeFile(join(folder.path, "data", "local", "moneta.sqlite"), "");
    const before = process.cwd();
    process.chdir(folder.path);
    try {
      const { message } = await rejectionOf(runCli({}, "app", "list"));
      expect(message).to.match(/There is no database at \S*data\/moneta\.sqlite\. `npm start` keeps its database/);
      expect(message).to.contain("DATA_DIR=data/local npm run cli -- ...");
    } finally {
      process.chdir(before);
    }
  });

  describe("given a DATA_DIR that cannot be used", () => {
    it("keys create answers in a sentence, with exit code 1", async () => {
      await writeFile(dataDir, "a file, not a folder");
      const program = run("api/cli/main.ts", ["keys", "create"], {
        DATA_DIR: dataDir,
        SEED_PASSPHRASE: "correct horse battery",
      });
      expect(await program.gone()).to.equal(1);
      expect(program.output).to.match(/^Cannot use .*ENOTDIR\)\.\n$/);
    });

    for (const path of ["/proc/moneta", "file"]) {
      it(`app create and npm run api answer in a sentence for ${path}`, async function () {
        if (process.platform !== "linux") this.skip();
        if (path === "file") await writeFile(dataDir, "");
        const env = { DATA_DIR: path === "file" ? dataDir : path };
        const create = run("api/cli/main.ts", ["app", "create", "x"], env);
        const api = run("api/main.ts", [], env);
        for (const program of [create, api]) {
          expect(await program.gone()).to.equal(1);
          expect(program.output)
            .to.contain(env.DATA_DIR)
            .and.not.to.match(/^\s+at /m);
        }
      });
    }
  });
});
