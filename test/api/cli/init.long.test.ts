import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import { STEPS } from "../../../api/chain/deployment.ts";
import { deployerKeyOf } from "../../../api/keys/keyring.ts";
import { readSeedFile } from "../../../api/keys/seed-file.ts";
import { Program } from "../../../scripts/scene/program.ts";
import { createTestDatabase, type DatabasePlace } from "../../support/database.ts";
import { describeOn, TEST_ENGINE } from "../../support/engine.ts";
import { useAnvil } from "../../support/use-anvil.ts";
import { useFolder } from "../../support/use-folder.ts";

const CHAIN = 84_532;
/** More lines than a run prints after the coins have arrived. */
const MOST_LINES = 40;
/** Lines between two kills. The steps are the same code with both engines, so PostgreSQL needs fewer of them. */
const LINES = TEST_ENGINE === "sqlite" ? 1 : 3;

/** A chain of its own, with a block each second. */
describe("command line: init that is killed", () => {
  const folder = useFolder();
  const node = useAnvil(CHAIN);
  let database: DatabasePlace | null = null;

  before(async () => {
    database = await createTestDatabase({ schema: "none" });
  });
  after(() => database?.remove());

  function begin(): Program {
    const args = [
      "api/cli/main.ts",
      "init",
      "--without-words",
      "--no-start",
      "--settings-file",
      join(folder.path, ".env"),
    ];
    const env = {
      ...process.env,
      RPC_URL: node.url,
      PUBLIC_URL: "https://nft.example",
      DATA_DIR: join(folder.path, "data"),
      DATABASE_URL: database?.url,
      DEPLOYMENTS_DIR: join(folder.path, "deployments"),
    };
    return new Program(args, { env });
  }

  /** Kills a run once it has printed so many lines. @returns whether it had ended before. */
  async function killAfter(lines: number): Promise<boolean> {
    const run = begin();
    const ended = await run.printed(new RegExp(`(?:.*\\n){${lines.toString()}}`)).then(
      () => false,
      () => true,
    );
    if (ended) expect(await run.gone(), run.output).to.equal(0);
    else await run.end("SIGKILL");
    return ended;
  }

  it("continues after each of its lines, and makes and sends nothing twice", async () => {
    for (let lines = 1; lines <= 4; lines++) await killAfter(lines);
    const waiting = begin();
    const [, deployer = ""] = await waiting.printed(/to the deployer: (0x\w{40})/);
    await waiting.end("SIGKILL");
    await node.provider.send("anvil_setBalance", [deployer, "0xde0b6b3a7640000"]);

    let lines = LINES;
    while (lines < MOST_LINES && !(await killAfter(lines))) lines += LINES;
    expect(lines, "a run was not killed any more").to.be.greaterThan(STEPS.length).and.below(MOST_LINES);

    const last = begin();
    expect(await last.gone(), last.output).to.equal(0);
    expect(last.output, `after ${lines.toString()} lines: ${last.output}`).to.match(/Already deployed/);
    const passphrase = (await readFile(join(folder.path, "data/seed-passphrase"), "utf8")).trim();
    const phrase = await readSeedFile(join(folder.path, "data/seed.jwe"), passphrase);
    expect(new Wallet(deployerKeyOf(phrase)).address).to.equal(deployer);
    // The contracts, the lane's coins, and the lane as an operator.
    expect(await node.provider.getTransactionCount(deployer)).to.equal(STEPS.length + 2);
  });
});

/** `script` of util-linux, which gives a program a terminal of its own. */
const SCRIPT = "/usr/bin/script";

// It asks for no database, so it takes SQLite.
describeOn("sqlite", "command line: init on a terminal", () => {
  const folder = useFolder();
  const node = useAnvil(CHAIN);
  before(function () {
    if (!existsSync(SCRIPT)) this.skip();
  });

  it("asks for what it needs, shows the words once and removes them from the screen, and starts the service", async () => {
    const command = `"${process.execPath}" api/cli/main.ts init --settings-file "${join(folder.path, ".env")}"`;
    const { PATH, HOME } = process.env;
    const env = {
      PATH,
      HOME,
      TERM: "xterm",
      PORT: "0",
      DATA_DIR: join(folder.path, "data"),
      DEPLOYMENTS_DIR: join(folder.path, "deployments"),
    };
    const person = new Program(["-qec", command, "/dev/null"], { command: SCRIPT, env, input: true });
    const type = (line: string) => person.child.stdin?.write(`${line}\n`);
    try {
      await person.printed(/URL of a node of the chain .*: /);
      type(node.url);
      await person.printed(/URL at which others reach the service .*: /);
      type("");
      await person.printed(/Press Enter when you have written them down\. /);
      const words = [...person.output.matchAll(/ {2,}\d+ ([a-z]+)/g)].map(([, word]) => word ?? "");
      expect(words).to.have.length(24);
      // The first answer is wrong: the words come again.
      type("");
      await person.printed(/Word \d+: /);
      type("moneta");
      await person.printed(/Here are the words again\.[^]*Press Enter/);
      // What was printed before does not count: the same word may be asked for again.
      const nextNumber = async (line: string) => {
        const printed = person.output.length;
        type(line);
        const [, number = ""] = await person.printed(new RegExp(`^[^]{${printed.toString()},}Word (\\d+): $`));
        return Number(number);
      };
      const first = await nextNumber("");
      const second = await nextNumber(words[first - 1] ?? "");
      type(words[second - 1] ?? "");
      // The cursor went up over all lines with the words, and everything below was removed.
      expect([...person.output.matchAll(/\x1b\[(\d+)A\x1b\[J/g)].map(([, lines]) => Number(lines))).to.satisfy(
        (all: number[]) => all.length === 2 && all.every((lines) => lines >= 12),
      );

      const [, deployer = ""] = await person.printed(/to the deployer: (0x\w{40})/);
      await person.printed(/Waiting for coins: 0\.0 of /);
      await node.provider.send("anvil_setBalance", [deployer, "0xde0b6b3a7640000"]);
      await person.printed(/Moneta is ready on Base Sepolia\.[^]*Open the console in your browser/);
      const after = person.output.slice(person.output.lastIndexOf("Word "));
      expect(
        words.filter((word) => new RegExp(`\\b${word}\\b`).test(after)).length,
        "words are shown again",
      ).to.be.below(8);
    } finally {
      person.child.kill("SIGTERM");
      await person.gone();
    }
  });
});
