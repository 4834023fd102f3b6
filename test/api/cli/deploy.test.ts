import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { expect } from "chai";
import { parseEther, Wallet } from "ethers";

import { Relay__factory } from "../../../contracts/generated/factories/Relay__factory.ts";
import { anvilBinary } from "../../../scripts/scene/anvil.ts";
import { listenOnLoopback } from "../../../scripts/scene/loopback.ts";
import { NodeProcess } from "../../../scripts/scene/node.ts";
import { eventually } from "../../support/eventually.ts";
import { ANVIL_KEY, type TestNode } from "../../support/node.ts";
import { useFolder } from "../../support/use-folder.ts";
import { rejectionOf } from "../../support/rejection.ts";
import { jsonOfCli, runCli } from "./support/run.ts";

const CHAIN = 84_532;
/** An account whose key is nowhere, as that of a multisig. */
const MULTISIG = "0x00000000000000000000000000000000000000A9";
const LANES = ["0x00000000000000000000000000000000000000A1", "0x00000000000000000000000000000000000000A2"];

interface Printed {
  chain_id: string;
  deployment_file: string | null;
  ready: boolean;
  unsigned: { name: string; to: string; data: string }[];
}

describe("command line: deploy", () => {
  const folder = useFolder();
  let node: TestNode;

  beforeEach(async function () {
    if (anvilBinary() === null) this.skip();
    node = await NodeProcess.anvil([], { chainId: CHAIN });
  });
  afterEach(async () => {
    await node.stop();
  });

  const env = (more: Record<string, string> = {}) => ({
    RPC_URL: node.url,
    PUBLIC_URL: "https://nft.example",
    DATA_DIR: folder.path,
    DEPLOYMENTS_DIR: folder.path,
    ...more,
  });
  const unsignedWords = () => {
    const file = join(folder.path, "unsigned.json");
    return ["deploy", "--unsigned", file, "--from", MULTISIG, "--operators", LANES.join(",")];
  };

  /** Sends what the file asks for, or its first transactions, as the multisig would. @returns how many it asks for */
  async function sign(most?: number): Promise<number> {
    const file: unknown = JSON.parse(await readFile(join(folder.path, "unsigned.json"), "utf8"));
    const { version, chainId, transactions } = file as {
      version: string;
      chainId: string;
      transactions: { to: string; value: string; data: string }[];
    };
    expect({ version, chainId }).to.deep.equal({ version: "1.0", chainId: CHAIN.toString() });
    await node.provider.send("anvil_impersonateAccount", [MULTISIG]);
    await node.provider.send("anvil_setBalance", [MULTISIG, "0x56bc75e2d63100000"]);
    for (const { to, value, data } of transactions.slice(0, most)) {
      expect(value).to.equal("0");
      const hash = (await node.provider.send("eth_sendTransaction", [{ from: MULTISIG, to, data }])) as string;
      // Waiting for its block by an event could wait for ever: no block may come after the one that has it.
      const receipt = await eventually(async () => (await node.provider.getTransactionReceipt(hash)) ?? undefined);
      expect(receipt.status).to.equal(1);
    }
    return transactions.length;
  }

  it("writes what a multisig must sign, goes on when it is mined, and sends nothing itself", async () => {
    const run = () => jsonOfCli<Printed>(env(), ...unsignedWords());
    const first = await run();
    expect(first).to.deep.include({ chain_id: CHAIN.toString(), deployment_file: null, ready: false });
    expect(first.unsigned.map(({ name }) => name)).to.deep.equal([
      "relay",
      "erc721Implementation",
      "erc1155Implementation",
      "factory",
      "delegate",
    ]);
    expect(await node.provider.getBlockNumber()).to.equal(0);
    // Other options would mean another relay.
    const other = runCli(env({ PUBLIC_URL: "https://other.example" }), ...unsignedWords());
    expect((await rejectionOf(other)).message).to.match(/An unfinished deployment to this chain/);
    expect(await sign(2)).to.equal(5);
    const left = (await run()).unsigned;
    expect(left.map(({ name }) => name)).to.deep.equal(["erc1155Implementation", "factory", "delegate"]);
    expect(await sign()).to.equal(3);

    const second = await run();
    expect(second.unsigned.map(({ name }) => name)).to.deep.equal(LANES.map((lane) => `setOperator(${lane}, true)`));
    expect(await sign()).to.equal(2);

    const { output, failed } = await runCli(env(), ...unsignedWords());
    expect(failed).to.equal(false);
    expect(output).to.include("Nothing is left to sign.");
    const deployed: unknown = JSON.parse(await readFile(join(folder.path, `${CHAIN.toString()}.json`), "utf8"));
    const relay = Relay__factory.connect((deployed as { relay: string }).relay, node.provider);
    expect(await relay.owner()).to.equal(MULTISIG);
    expect(await relay.hostedBaseURI()).to.equal("https://nft.example/metadata/");
    for (const lane of LANES) expect(await relay.isOperator(lane)).to.equal(true);
  });

  it("deploys with the key that a command prints, and finds everything the second time", async () => {
    const file = join(folder.path, "key");
    await writeFile(file, ANVIL_KEY, { mode: 0o600 });
    const words = ["deploy", "--key-command", `cat '${file}'`, "--operators", LANES[0] ?? ""];
    const { chain_id, ready, unsigned } = await jsonOfCli<Printed>(env(), ...words);
    expect({ chain_id, ready, unsigned }).to.deep.equal({ chain_id: CHAIN.toString(), ready: true, unsigned: [] });
    const mined = await node.provider.getBlockNumber();
    const { output } = await runCli(env({ DEPLOYER_PRIVATE_KEY: ANVIL_KEY }), ...words.slice(0, 1));
    expect(output).to.include("Deploying to Base Sepolia (chain 84532)").and.include("Already deployed");
    expect(await node.provider.getBlockNumber()).to.equal(mined);
  });

  it("needs no key for a dry run, and sends and writes nothing", async () => {
    const { address } = new Wallet(ANVIL_KEY);
    const { output } = await runCli(env(), "deploy", "--dry-run", "--from", address);
    expect(output)
      .to.match(/total {5}about \d{7,8} gas/)
      .and.include("Nothing was sent: this was a dry run.");
    expect(await node.provider.getBlockNumber()).to.equal(0);
  });

  it("counts what a rollup charges for the data beside the gas", async () => {
    const words = ["deploy", "--dry-run", "--from", new Wallet(ANVIL_KEY).address];
    const costOf = async () => {
      const { output } = await runCli(env(), ...words);
      const found = /total {5}about \d+ gas, ([\d.]+) at the current gas price(?:, ([\d.]+) of it for L1 data)?; /.exec(
        output,
      );
      return { total: parseEther(found?.[1] ?? "0"), l1: parseEther(found?.[2] ?? "0") };
    };
    const plain = await costOf();
    expect(plain.l1).to.equal(0n);
    // A contract at the place of the OP stack's GasPriceOracle, which answers a gwei for each byte.
    await node.provider.send("anvil_setCode", [
      "0x420000000000000000000000000000000000000F",
      "0x36633b9aca00025f5260205ff3",
    ]);
    const { total, l1 } = await costOf();
    // The creation code of the five contracts.
    expect(Number(l1)).to.be.within(40_000e9, 120_000e9);
    expect(total - plain.total).to.equal(l1);
  });

  it("publishes the sources of what is on the chain, without a compiler, and fails if one is refused", async () => {
    const sent = new Map<string, { contractIdentifier: string; stdJsonInput: { sources: object } }>();
    let refused = "";
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const [, address = ""] = /^\/v2\/verify\/84532\/(0x\w{40})$/.exec(request.url ?? "") ?? [];
        const one = JSON.parse(body) as { contractIdentifier: string; stdJsonInput: { sources: object } };
        sent.set(address, one);
        const customCode = one.contractIdentifier.endsWith(refused) ? "no_match" : "already_verified";
        response.writeHead(409).end(JSON.stringify({ customCode, message: "said", errorId: "1" }));
      });
    });
    const sourcify = await listenOnLoopback(server);
    try {
      const words = ["deploy", "--operators", LANES[0] ?? "", "--verify"];
      const more = { DEPLOYER_PRIVATE_KEY: ANVIL_KEY, SOURCIFY_URL: sourcify.url };
      refused = ":WalletDelegate";
      const first = await runCli(env(more), ...words);
      expect(first.failed).to.equal(true);
      expect(first.output).to.match(/Sourcify: WalletDelegate 0x\w{40} is not verified: said/);
      expect(first.output).to.include("Etherscan is not asked: set ETHERSCAN_API_KEY.");
      refused = ":nothing";
      const { verified } = await jsonOfCli<{ verified: boolean }>(env(more), ...words);
      expect(verified).to.equal(true);
    } finally {
      await sourcify.stop();
    }
    const names = [...sent.values()].map(({ contractIdentifier }) => contractIdentifier.split(":")[1]);
    expect(names).to.have.members([
      "Relay",
      "CompactERC721Collection",
      "ERC1155Collection",
      "CollectionFactory",
      "WalletDelegate",
    ]);
    for (const [address, { contractIdentifier, stdJsonInput }] of sent) {
      expect(await node.provider.getCode(address)).to.not.equal("0x");
      expect(stdJsonInput.sources).to.have.any.keys(contractIdentifier.split(":")[0] ?? "");
    }
  });

  it("takes a list of nodes, if they serve one chain", async () => {
    const { address } = new Wallet(ANVIL_KEY);
    const words = ["deploy", "--dry-run", "--from", address];
    const nodes = (...urls: string[]) => env({ RPC_URL: "", RPC_URLS: urls.join() });
    const { output } = await runCli(nodes("http://127.0.0.1:9", node.url), ...words);
    expect(output).to.include("Deploying to Base Sepolia (chain 84532)");
    const other = await NodeProcess.anvil([], { chainId: 1_337 });
    try {
      const refusal = await rejectionOf(runCli(nodes(other.url, node.url), ...words));
      expect(refusal.message).to.match(/serve different chains.*chain 1337.*chain 84532/);
    } finally {
      await other.stop();
    }
  });

  it("says what is missing or does not fit together", async () => {
    const refusal = async (...words: string[]) => (await rejectionOf(runCli(env(), "deploy", ...words))).message;
    expect(await refusal()).to.match(/^The private key of the account that pays for the deployment is missing/);
    expect(await refusal("--key-file", "/none")).to.equal("The key's file /none cannot be read (ENOENT).");
    expect(await refusal("--key-command", "echo 0x12")).to.match(
      /^The output of the key's command is not a private key/,
    );
    expect(await refusal("--key-command", "echo 0x12; exit 3"))
      .to.match(/^The key's command failed/)
      .and.not.match(/0x12/);
    expect(await refusal("--key-file", "a", "--key-command", "b")).to.match(/^Name the key once/);
    expect(await refusal("--unsigned", "file")).to.match(/^--unsigned needs --from/);
    expect(await refusal("--from", MULTISIG)).to.match(/^--from is for --unsigned and --dry-run/);
    expect(await refusal("--from", "0x12", "--dry-run")).to.match(/^--from: 0x12 is not an address/);
    expect(await refusal("--from", MULTISIG, "--dry-run", "--key-file", "a")).to.match(
      /^--from is for an account without/,
    );
    expect(await refusal("--from", MULTISIG, "--dry-run", "--unsigned", "a")).to.match(/^--unsigned sends nothing/);
  });
});
