import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import type { Deployment } from "../../api/chain/contracts.ts";
import { readDeploymentFile } from "../../api/operate/deploy/journal.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { anvilBinary } from "../../scripts/scene/anvil.ts";
import { ANVIL_KEY, startAnvil, startNode, type TestNode } from "../support/node.ts";
import { TestProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/folder.ts";

const DEPLOYER = new Wallet(ANVIL_KEY).address;
const STEPS = ["relay", "erc721Implementation", "erc1155Implementation", "factory", "delegate"] as const;
const PUBLIC_URL = "https://nft.example";

describe("npm run deploy", () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let node: TestNode;

  before(function () {
    if (anvilBinary() === null) this.skip();
  });
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(async () => {
    await node.stop();
    await folder.remove();
  });

  function deploy(
    network: string,
    args: string[] = [],
    env: Record<string, string> = {},
    options: string[] = [],
  ): TestProcess {
    const task = ["node_modules/hardhat/dist/src/cli.js", "deploy", "--network", network];
    return new TestProcess([...options, ...task, ...args], {
      DEPLOYMENTS_DIR: folder.path,
      DATA_DIR: folder.path,
      PUBLIC_URL,
      BASE_SEPOLIA_RPC_URL: node.url,
      LOCALHOST_RPC_URL: node.url,
      DEPLOYER_PRIVATE_KEY: ANVIL_KEY,
      ...env,
    });
  }

  /** Deploys, but is killed as soon as it has sent a transaction. @returns how it ended. */
  function killedAfter(network: string, step: (typeof STEPS)[number]): Promise<number | NodeJS.Signals> {
    const env = { KILL_WHEN_PRINTED: `${step}\\s+sent: 0x` };
    return deploy(network, [], env, ["--import", "./test/support/kill-when-printed.mjs"]).gone();
  }

  async function deploymentOf(chainId: bigint): Promise<Deployment> {
    return (await readDeploymentFile({ folder: folder.path, chainId }))!;
  }

  async function addressesIn(chainId: number): Promise<string[]> {
    const { relay, factories, delegate } = await deploymentOf(BigInt(chainId));
    const [{ address, erc721Implementation, erc1155Implementation }] = factories;
    return [relay, erc721Implementation, erc1155Implementation, address, delegate];
  }

  describe("given it was killed right after each of the transactions that it sent", () => {
    it("resumes on a chain with a CREATE2 deployer and deploys nothing twice", async () => {
      node = await startAnvil(84_532);
      for (const step of STEPS) {
        expect(await killedAfter("baseSepolia", step)).to.equal("SIGKILL");
        expect(existsSync(join(folder.path, "84532.json"))).to.equal(false);
      }
      const resumed = deploy("baseSepolia");
      expect(await resumed.gone(), resumed.output).to.equal(0);
      for (const address of await addressesIn(84_532)) {
        expect(await node.provider.getCode(address)).to.not.equal("0x");
      }
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(STEPS.length);

      const again = deploy("baseSepolia");
      expect(await again.gone()).to.equal(0);
      expect(again.output).to.match(/Already deployed/);
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(STEPS.length);
    });
  });

  describe("given the transaction of an earlier run that waits for its block", () => {
    it("waits for it too, and deploys nothing twice", async () => {
      node = await startAnvil(84_532);
      await node.provider.send("evm_setIntervalMining", [0]);
      expect(await killedAfter("baseSepolia", STEPS[0])).to.equal("SIGKILL");
      const resumed = deploy("baseSepolia");
      await resumed.printed(/total +about/);
      await node.provider.send("evm_setIntervalMining", [1]);
      expect(await resumed.gone(), resumed.output).to.equal(0);
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(STEPS.length);
    });
  });

  describe("given a chain without a CREATE2 deployer", () => {
    it("deploys with the account's nonces and resumes after a crash", async () => {
      node = await startNode();
      expect(await killedAfter("localhost", "factory")).to.equal("SIGKILL");
      const resumed = deploy("localhost");
      expect(await resumed.gone()).to.equal(0);
      expect(resumed.output).to.match(/This chain has no CREATE2 deployer/);
      for (const address of await addressesIn(31_337)) {
        expect(await node.provider.getCode(address)).to.not.equal("0x");
      }
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(STEPS.length);
    });
  });

  describe("given a dry run", () => {
    it("prints the cost and sends nothing", async () => {
      node = await startAnvil(84_532);
      const dry = deploy("baseSepolia", ["--dry-run"]);
      expect(await dry.gone()).to.equal(0);
      expect(dry.output).to.match(/total\s+about \d+ gas/);
      for (const feature of ["PUSH0", "MCOPY", "transient storage", "base fee", "delegation"]) {
        expect(dry.output).to.match(new RegExp(`chain\\s+${feature} \\(EIP-\\d+\\): yes\n`));
      }
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(0);
    });

    it("estimates what the deployment then uses, within 10 %", async () => {
      node = await startAnvil(84_532);
      const dry = deploy("baseSepolia", ["--dry-run"]);
      expect(await dry.gone(), dry.output).to.equal(0);
      const estimated = Number(/total\s+about (\d+) gas/.exec(dry.output)?.[1]);
      const done = deploy("baseSepolia");
      expect(await done.gone(), done.output).to.equal(0);
      const hashes = [...done.output.matchAll(/sent: (0x[0-9a-f]{64})/g)].map((match) => match[1] ?? "");
      expect(hashes).to.have.length(STEPS.length);
      let used = 0;
      for (const hash of hashes) used += Number((await node.provider.getTransactionReceipt(hash))?.gasUsed);
      expect(estimated).to.be.within(used, used * 1.1);
    });
  });

  describe("given a chain that still has the rules of the Shanghai hard fork", () => {
    it("names what is missing, and sends nothing", async () => {
      node = await startAnvil(84_532, ["--hardfork", "shanghai"]);
      const refused = deploy("baseSepolia");
      expect(await refused.gone()).to.equal(1);
      expect(refused.output).to.match(/PUSH0 \(EIP-3855\): yes/);
      expect(refused.output).to.match(/delegation \(EIP-7702\): no/);
      expect(refused.output).to.match(
        /This chain does not support MCOPY \(EIP-5656\), transient storage \(EIP-1153\)\. .* Nothing was sent\./,
      );
      expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(0);
    });
  });

  describe("given a setting is missing or wrong", () => {
    for (const [what, env, sentence] of [
      [
        "no URL of a node",
        { BASE_SEPOLIA_RPC_URL: "" },
        "The URL of a node of baseSepolia is missing. Add this line to your shell: export BASE_SEPOLIA_RPC_URL=https://…",
      ],
      [
        "no key",
        { DEPLOYER_PRIVATE_KEY: "" },
        "The private key of the account that pays for the deployment is missing. Store it with `npx hardhat keystore set DEPLOYER_PRIVATE_KEY`, or add this line to your shell: export DEPLOYER_PRIVATE_KEY=0x…",
      ],
      [
        "no valid key",
        { DEPLOYER_PRIVATE_KEY: "0x12" },
        "DEPLOYER_PRIVATE_KEY is not a private key: it must be 0x and 64 hexadecimal digits.",
      ],
    ] as const) {
      it(`says in one sentence which line to add: ${what}`, async () => {
        node = await startAnvil(84_532);
        const refused = deploy("baseSepolia", [], env);
        expect(await refused.gone()).to.equal(1);
        expect(refused.output.trim()).to.equal(sentence);
      });
    }
  });

  describe("given the deployer cannot pay", () => {
    it("prints the missing amount and sends nothing", async () => {
      node = await startAnvil(84_532);
      const poor = deploy("baseSepolia", [], { DEPLOYER_PRIVATE_KEY: Wallet.createRandom().privateKey });
      expect(await poor.gone()).to.equal(1);
      expect(poor.output).to.match(
        /The deployer lacks [\d.]+\. Send it funds, then run this again\. Nothing was sent\./,
      );
    });
  });

  describe("given the owner is not the deployer", () => {
    it("tells the owner to add the operators", async () => {
      node = await startAnvil(84_532);
      const [owner, operator] = [Wallet.createRandom().address, Wallet.createRandom().address];
      const done = deploy("baseSepolia", ["--owner", owner, "--operators", operator]);
      expect(await done.gone()).to.equal(0);
      const { relay } = await deploymentOf(84_532n);
      expect(await Relay__factory.connect(relay, node.provider).owner()).to.equal(owner);
      expect(done.output).to.contain(`${owner} must call setOperator(${operator}, true) on ${relay}`);
    });
  });
});
