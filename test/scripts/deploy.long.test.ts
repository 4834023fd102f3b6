import { existsSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";
import { Wallet } from "ethers";

import { type Step, STEPS } from "../../api/chain/deployment.ts";
import { readDeploymentFile } from "../../api/operate/deploy/journal.ts";
import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { anvilBinary } from "../../scripts/scene/anvil.ts";
import { ANVIL_KEY, startAnvil, startNode, type TestNode } from "../support/node.ts";
import { TestProcess } from "../support/process.ts";
import { useFolder } from "../support/use-folder.ts";

const DEPLOYER = new Wallet(ANVIL_KEY).address;
const PUBLIC_URL = "https://nft.example";

/** What the deployment itself does is tested in `deploy-contracts.long.test.ts`. */
describe("npm run deploy", () => {
  const folder = useFolder();
  let node: TestNode;

  before(function () {
    if (anvilBinary() === null) this.skip();
  });
  afterEach(async () => {
    await node.stop();
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
  function killedAfter(network: string, step: Step, args: string[] = []): Promise<number | NodeJS.Signals> {
    const env = { KILL_WHEN_PRINTED: `${step}\\s+sent: 0x` };
    return deploy(network, args, env, ["--import", "./test/support/kill-when-printed.mjs"]).gone();
  }

  it("resumes after it was killed, deploys nothing twice, and tells the owner to add the operators", async () => {
    node = await startAnvil(84_532);
    const [owner, operator] = [Wallet.createRandom().address, Wallet.createRandom().address];
    const args = ["--owner", owner, "--operators", operator];
    expect(await killedAfter("baseSepolia", "factory", args)).to.equal("SIGKILL");
    expect(existsSync(join(folder.path, "84532.json"))).to.equal(false);
    const resumed = deploy("baseSepolia", args);
    expect(await resumed.gone(), resumed.output).to.equal(0);
    const { relay, factories, delegate } = (await readDeploymentFile({ folder: folder.path, chainId: 84_532n }))!;
    const [{ address, erc721Implementation, erc1155Implementation }] = factories;
    for (const contract of [relay, erc721Implementation, erc1155Implementation, address, delegate]) {
      expect(await node.provider.getCode(contract)).to.not.equal("0x");
    }
    expect(await Relay__factory.connect(relay, node.provider).owner()).to.equal(owner);
    expect(resumed.output).to.contain(`${owner} must call setOperator(${operator}, true) on ${relay}`);
    expect(await node.provider.getTransactionCount(DEPLOYER)).to.equal(STEPS.length);
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

  describe("given a dry run", () => {
    it("prints the cost and sends nothing, also on Hardhat's own node", async () => {
      node = await startNode();
      const dry = deploy("localhost", ["--dry-run"]);
      expect(await dry.gone()).to.equal(0);
      expect(dry.output).to.match(/total\s+about \d+ gas/);
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
});
