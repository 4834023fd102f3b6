import { existsSync } from "node:fs";
import { readFile, stat, writeFile } from "node:fs/promises";

import { expect } from "chai";

import { OperatorError } from "../../../api/operate/operator-error.ts";
import { newSeedPhrase, SeedFileError, writeSeedFile } from "../../../api/keys/seed-file.ts";
import { TestProcess } from "../../support/process.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { useFolder } from "../../support/use-folder.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

interface Keys {
  seed_file: string;
  xpub: string;
  import_key: string;
  lanes: string[];
  phrase?: string;
}

describe("command line: keys", () => {
  const folder = useFolder();
  let env: Record<string, string>;

  beforeEach(() => {
    env = {
      DATA_DIR: folder.path,
      SEED_FILE: `${folder.path}/seed.jwe`,
      SEED_PASSPHRASE: "correct horse battery",
      LANES: "3",
    };
  });

  /** `keys restore` reads standard input, so it runs as a program. */
  async function restore(phrase: string, file: string): Promise<{ code: number | NodeJS.Signals; output: string }> {
    const words = `${folder.path}/words`;
    await writeFile(words, phrase);
    const restoring = new TestProcess(
      ["-c", `"${process.execPath}" api/cli/main.ts keys restore --json < "${words}"`],
      { ...env, SEED_FILE: file },
      "sh",
    );
    return { code: await restoring.gone(), output: restoring.output };
  }

  describe("create", () => {
    it("writes a file that only its owner can read, and prints the words only on request", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create");
      expect(made).to.have.all.keys("seed_file", "xpub", "import_key", "lanes");
      expect(new Set(made.lanes).size).to.equal(3);
      expect((await stat(made.seed_file)).mode & 0o777).to.equal(0o600);
      const shown = await jsonOfCli<Keys>(
        { ...env, SEED_FILE: `${folder.path}/b.jwe` },
        "keys",
        "create",
        "--show-phrase",
      );
      expect(shown.phrase?.split(" ")).to.have.length(24);
      expect(await readFile(`${folder.path}/b.jwe`, "utf8")).to.not.contain(shown.phrase?.split(" ")[0]);
    });

    it("never overwrites a file", async () => {
      await runCli(env, "keys", "create");
      const before = await readFile(`${folder.path}/seed.jwe`, "utf8");
      const error = await rejectionOf(runCli(env, "keys", "create"));
      expect(error).to.be.instanceOf(SeedFileError);
      expect(error.message).to.match(/already exists and was not overwritten/);
      expect(await readFile(`${folder.path}/seed.jwe`, "utf8")).to.equal(before);
    });

    it("refuses a weak SEED_PASSPHRASE and none, and writes no file", async () => {
      const error = await rejectionOf(runCli({ ...env, SEED_PASSPHRASE: "correct horse" }, "keys", "create"));
      expect(error).to.be.instanceOf(OperatorError);
      expect(error.message).to.match(/SEED_PASSPHRASE is weak: it has 13 characters.*openssl rand/s);
      const missing = await rejectionOf(runCli({ ...env, SEED_PASSPHRASE: "" }, "keys", "create"));
      expect(missing.message).to.match(/SEED_PASSPHRASE is not set/);
      expect(existsSync(`${folder.path}/seed.jwe`)).to.equal(false);
    });
  });

  describe("check", () => {
    it("prints the lane addresses of the file, and rejects a wrong passphrase", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create");
      expect(await jsonOfCli<Keys>(env, "keys", "check")).to.deep.equal(made);
      const error = await rejectionOf(runCli({ ...env, SEED_PASSPHRASE: "wrong" }, "keys", "check"));
      expect(error).to.be.instanceOf(SeedFileError);
      expect(error.message).to.match(/passphrase does not open the seed file/);
    });

    it("opens a file with a weak passphrase, which an older version wrote, and warns", async () => {
      await writeSeedFile(`${folder.path}/seed.jwe`, newSeedPhrase(), "weak");
      const { output, remarks } = await runCli({ ...env, SEED_PASSPHRASE: "weak" }, "keys", "check");
      expect(output).to.contain("valid");
      expect(remarks).to.match(/SEED_PASSPHRASE is weak: it has 4 characters/);
    });

    it("rejects a missing file and a file that is not a seed file", async () => {
      expect((await rejectionOf(runCli(env, "keys", "check"))).message).to.match(/cannot be read \(ENOENT\)/);
      await writeFile(`${folder.path}/seed.jwe`, "nonsense");
      expect((await rejectionOf(runCli(env, "keys", "check"))).message).to.match(/is not a seed file/);
    });
  });

  describe("restore", () => {
    it("derives the same addresses from the same words, with another passphrase", async () => {
      const made = await jsonOfCli<Keys>(env, "keys", "create", "--show-phrase");
      env = { ...env, SEED_PASSPHRASE: "another horse, no battery" };
      // The words may be separated by spaces and line breaks.
      const { code, output } = await restore(
        `  ${(made.phrase ?? "").replaceAll(" ", "\n ")}\n`,
        `${folder.path}/restored.jwe`,
      );
      expect(code).to.equal(0);
      expect((JSON.parse(output) as Keys).lanes).to.deep.equal(made.lanes);
      expect(
        (await jsonOfCli<Keys>({ ...env, SEED_FILE: `${folder.path}/restored.jwe` }, "keys", "check")).lanes,
      ).to.deep.equal(made.lanes);
    });

    it("rejects words with a mistake, and never overwrites a file", async () => {
      const { phrase = "" } = await jsonOfCli<Keys>(env, "keys", "create", "--show-phrase");
      // Words of the list with a checksum that is wrong: with "art" at the end they would be valid. Words in a random order
      // would be valid once in 256 times.
      const mistaken = await restore(Array(24).fill("abandon").join(" "), `${folder.path}/restored.jwe`);
      expect(mistaken.code).to.equal(1);
      expect(mistaken.output).to.match(/is not a valid seed phrase/);
      const again = await restore(phrase, `${folder.path}/seed.jwe`);
      expect(again.code).to.equal(1);
      expect(again.output).to.match(/not overwritten/);
    });
  });
});
