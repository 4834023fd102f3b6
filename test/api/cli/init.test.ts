import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import { expect } from "chai";
import { Wallet } from "ethers";

import { init } from "../../../api/cli/init/init.ts";
import { STEPS } from "../../../api/chain/deployment.ts";
import { deployerKeyOf } from "../../../api/keys/keyring.ts";
import { readSeedFile } from "../../../api/keys/seed-file.ts";
import { OperatorError } from "../../../api/operate/operator-error.ts";
import { startAnvil } from "../../support/node.ts";
import { useAnvil } from "../../support/use-anvil.ts";
import { useFolder } from "../../support/use-folder.ts";
import { rejectionOf } from "../../support/rejection.ts";

const CHAIN = 84_532;

describe("command line: init", () => {
  const folder = useFolder();
  const node = useAnvil(CHAIN);

  /** Runs the command until everything is ready, without starting the service. */
  async function run(
    words: string[] = [],
    more: {
      env?: Record<string, string>;
      /** @param remarks everything that the person has seen. */
      ask?: (question: string, remarks: string) => string;
      written?: (all: string) => void;
    } = {},
  ): Promise<{ output: string; remarks: string }> {
    const ran = { output: "", remarks: "" };
    const { ask } = more;
    const terminal = {
      env: {
        RPC_URL: node.url,
        DATA_DIR: join(folder.path, "data"),
        DEPLOYMENTS_DIR: join(folder.path, "deployments"),
        ...more.env,
      },
      input: Readable.from([]),
      write: (text: string) => {
        ran.output += text;
        more.written?.(ran.output);
      },
      remark: (text: string) => {
        ran.remarks += text;
      },
      ...(ask === undefined ? {} : { ask: (question: string) => Promise.resolve(ask(question, ran.remarks)) }),
    };
    const file = join(folder.path, ".env");
    const args = ["--settings-file", file, "--no-start", ...words];
    await init(terminal)
      .exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .parseAsync(args, { from: "user" });
    return ran;
  }

  /** For `written`: pays the deployer once the command says what it needs, after `before`. */
  function payer(before: () => Promise<unknown> = () => Promise.resolve()): (output: string) => void {
    let paid = false;
    return (output) => {
      const address = /to the deployer: (0x\w{40})/.exec(output)?.[1];
      if (address === undefined || paid) return;
      paid = true;
      void before().finally(() => node.provider.send("anvil_setBalance", [address, "0xde0b6b3a7640000"]));
    };
  }

  const filesIn = async () => {
    const names = await readdir(folder.path, { recursive: true, withFileTypes: true });
    return names.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  };

  it("sets everything up, shows the words once, and a second run changes nothing", async () => {
    let shown: string[] = [];
    const ask = (question: string, remarks: string) => {
      shown = [...remarks.matchAll(/ {2,}\d+ ([a-z]+)/g)].map((match) => match[1] ?? "");
      const word = /Word (\d+)/.exec(question)?.[1];
      return word === undefined ? "" : (shown[Number(word) - 1] ?? "");
    };
    const env = { PUBLIC_URL: "https://nft.example" };
    const { output: first } = await run(["--chain", "baseSepolia"], { env, ask, written: payer() });
    expect(shown, "words").to.have.length(24);
    expect(first).to.match(/Send 0\.\d+ Base Sepolia ETH to the deployer: 0x/);
    expect(first).to.contain("Where to get them: https://docs.base.org/");
    const phrase = shown.join(" ");
    const passphrase = (await readFile(join(folder.path, "data/seed-passphrase"), "utf8")).trim();
    expect(await readSeedFile(join(folder.path, "data/seed.jwe"), passphrase)).to.equal(phrase);

    for (const path of [".env", "data/seed-passphrase", "data/seed.jwe", "data/token"])
      expect((await stat(join(folder.path, path))).mode & 0o777, path).to.equal(0o600);
    for (const path of await filesIn()) {
      const text = await readFile(path, "latin1");
      expect(text, path).to.not.contain(shown.slice(0, 3).join(" "));
      expect(text, path).to.not.contain(deployerKeyOf(phrase).slice(2));
    }
    const deployer = new Wallet(deployerKeyOf(phrase)).address;
    const sent = await node.provider.getTransactionCount(deployer);
    // The contracts, the lane's coins, and the lane as an operator.
    expect(sent).to.equal(STEPS.length + 2);

    const before = await readFile(join(folder.path, ".env"), "utf8");
    const again = await run();
    expect(again.output).to.match(/Already deployed/);
    expect(/token: \S+/.exec(again.output)?.[0]).to.equal(/token: \S+/.exec(first)?.[0]);
    expect(await readFile(join(folder.path, ".env"), "utf8")).to.equal(before);
    const { output: json, remarks } = await run(["--json"]);
    const result = { chain_id: CHAIN.toString(), settings_file: join(folder.path, ".env"), app: "my-app" };
    expect(JSON.parse(json))
      .to.include(result)
      .and.to.have.property("token")
      .that.is.oneOf([/token: (\S+)/.exec(first)?.[1]]);
    expect(remarks).to.match(/Already deployed/);
    expect(await node.provider.getTransactionCount(deployer)).to.equal(sent);
  });

  it("takes a list of nodes and keeps it, and is refused while another run is at work", async () => {
    let refusal = "";
    const list = `http://127.0.0.1:9,${node.url}`;
    const env = { RPC_URL: "", RPC_URLS: list };
    const written = payer(async () => {
      refusal = (await rejectionOf(run(["--without-words"], { env }))).message;
    });
    const { output } = await run(["--without-words"], { env, written });
    expect(output).to.match(/Everything is ready/);
    expect((await readFile(join(folder.path, ".env"), "utf8")).match(/^RPC_.*$/gm)).to.deep.equal([`RPC_URLS=${list}`]);
    expect(refusal).to.match(/^Another run of this command is at work in /);
    // It has ended.
    expect((await run([], { env })).output).to.match(/Already deployed/);
  });

  for (const [what, words, env, sentence] of [
    [
      "an unknown chain",
      ["--chain", "moon"],
      {},
      /--chain: moon is not known\. The known chains are ethereum, sepolia, base, baseSepolia/,
    ],
    [
      "a node of another chain",
      ["--chain", "sepolia"],
      {},
      /The node serves chain 84532, but sepolia is chain 11155111/,
    ],
    [
      "a list of nodes beside one",
      [],
      { RPC_URLS: "http://a.example,http://b.example" },
      /^RPC_URLS names the nodes already/,
    ],
    ["no node", ["--chain", "sepolia"], { RPC_URL: "" }, /Add this line to your shell: export SEPOLIA_RPC_URL=https/],
    [
      "no terminal for the words",
      [],
      {},
      /cannot be shown and checked, because this is not a terminal.*--without-words/,
    ],
    [
      "a wrong key",
      ["--without-words"],
      { DEPLOYER_PRIVATE_KEY: "0x12" },
      /^DEPLOYER_PRIVATE_KEY is not a private key/,
    ],
    ["a wrong owner", ["--without-words", "--owner", "me"], {}, /^--owner: me is not an address/],
    ["no coins in time", ["--without-words", "--wait", "0m"], {}, /has 0\.0 and needs .* Nothing was sent\./],
  ] as const) {
    it(`says in one sentence what is wrong: ${what}`, async () => {
      const refused = await rejectionOf(run([...words], { env }));
      expect(refused).to.be.instanceOf(OperatorError);
      expect(refused.message).to.match(sentence);
    });
  }

  it("listens to no signal any more after a run that failed", async () => {
    const before = process.listeners("SIGINT");
    await rejectionOf(run(["--chain", "moon"]));
    expect(process.listeners("SIGINT")).to.deep.equal(before);
  });

  it("writes the confirmations of the chain into new settings, and changes none that exist", async () => {
    const polygon = await startAnvil(80_002);
    try {
      const words = ["--chain", "polygonAmoy", "--without-words", "--wait", "0m"];
      const start = () => rejectionOf(run(words, { env: { RPC_URL: polygon.url, PUBLIC_URL: "https://nft.example" } }));
      const file = join(folder.path, ".env");
      expect((await start()).message).to.match(/Nothing was sent/);
      const settings = await readFile(file, "utf8");
      expect(settings).to.match(/^CONFIRMATIONS=180$/m);
      const without = settings.replace(/^CONFIRMATIONS=.*\n/m, "");
      await writeFile(file, without);
      await start();
      expect(await readFile(file, "utf8")).to.equal(without);
    } finally {
      await polygon.stop();
    }
  });
});
