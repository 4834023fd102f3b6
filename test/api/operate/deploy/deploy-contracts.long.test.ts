import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

import { expect } from "chai";
import { getAddress, type TransactionRequest, type TransactionResponse, Wallet } from "ethers";

import { CollectionFactory__factory } from "../../../../contracts/generated/factories/CollectionFactory__factory.ts";
import { deploy as deployPlan, deployContracts } from "../../../../api/operate/deploy/deploy-contracts.ts";
import { STEPS } from "../../../../api/chain/deployment.ts";
import { readDeploymentFile } from "../../../../api/operate/deploy/journal.ts";
import type { Plan } from "../../../../api/operate/deploy/plan.ts";
import { OperatorError } from "../../../../api/operate/operator-error.ts";
import { ANVIL_KEY } from "../../../support/node.ts";
import { rejectionOf } from "../../../support/rejection.ts";
import { useAnvil } from "../../../support/use-anvil.ts";
import { useFolder } from "../../../support/use-folder.ts";

async function printedBy<T>(run: (say: (line: string) => void) => Promise<T>): Promise<{ result: T; output: string }> {
  let output = "";
  const result = await run((line) => (output += `${line}\n`));
  return { result, output };
}

const CHAIN = 84_532;
const OPERATOR = "0x00000000000000000000000000000000000000A1";
const CREATE2_DEPLOYER = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

/** A deployer whose program ends right after it has sent a number of transactions. */
class Interrupted extends Wallet {
  left: number = Infinity;

  override async sendTransaction(transaction: TransactionRequest): Promise<TransactionResponse> {
    const sent = await super.sendTransaction(transaction);
    if (--this.left === 0) throw new Error("interrupted");
    return sent;
  }
}

describe("deployContracts", () => {
  const folder = useFolder();
  const node = useAnvil(CHAIN);
  let deployer: Interrupted;
  let empty: unknown;

  before(async () => {
    // The blocks come with the transactions.
    await node.provider.send("evm_setAutomine", [true]);
    empty = await node.provider.send("evm_snapshot", []);
  });
  beforeEach(() => {
    deployer = new Interrupted(ANVIL_KEY, node.provider);
  });
  afterEach(async () => {
    await node.provider.send("evm_revert", [empty]);
    empty = await node.provider.send("evm_snapshot", []);
  });

  const plan = (changes: Partial<Plan> = {}): Plan => ({
    chainId: BigInt(CHAIN),
    owner: deployer.address,
    operators: [],
    hostedBase: "https://nft.example/metadata/",
    storage: null,
    dryRun: false,
    folder: folder.path,
    ...changes,
  });
  const deploy = (changes?: Partial<Plan>, by: Wallet = deployer) =>
    printedBy((say) => deployContracts(plan(changes), by, say));
  const fileOf = () => join(folder.path, `${CHAIN.toString()}.json`);
  const sent = () => node.provider.getTransactionCount(deployer.address);

  /** Deploys until so many transactions are sent. */
  async function interruptAfter(transactions: number, changes?: Partial<Plan>): Promise<void> {
    deployer.left = transactions;
    expect((await rejectionOf(deploy(changes))).message).to.equal("interrupted");
    deployer.left = Infinity;
  }

  async function expectAllDeployedOnce(): Promise<void> {
    const { relay, factories, delegate } = (await readDeploymentFile(plan()))!;
    expect(factories.map(({ storage }) => storage)).to.deep.equal(["compact"]);
    const [{ address, erc721Implementation, erc1155Implementation }] = factories;
    for (const contract of [relay, erc721Implementation, erc1155Implementation, address, delegate]) {
      expect(await node.provider.getCode(contract)).to.not.equal("0x");
    }
    expect(await sent()).to.equal(STEPS.length + 1);
  }

  for (const chain of ["with a CREATE2 deployer", "without one"])
    for (const [index, step] of [...STEPS, "operator"].entries()) {
      it(`given a chain ${chain}, and a run that ended right after it sent the ${step}: continues at the same addresses, and pays for nothing twice`, async () => {
        if (chain === "without one") await node.provider.send("anvil_setCode", [CREATE2_DEPLOYER, "0x"]);
        const wanted = { operators: [OPERATOR] };
        const run = () => printedBy((say) => deployPlan(plan(wanted), deployer, say));
        deployer.left = index + 1;
        expect((await rejectionOf(run())).message).to.equal("interrupted");
        deployer.left = Infinity;
        expect(existsSync(fileOf())).to.equal(step === "operator");
        const { result, output } = await run();
        expect(result?.ready).to.equal(true);
        expect(output.includes("This chain has no CREATE2 deployer")).to.equal(
          chain === "without one" && step !== "operator",
        );
        await expectAllDeployedOnce();
        expect((await run()).output).to.match(/^Already deployed/);
        expect(await sent()).to.equal(STEPS.length + 1);
      });
    }

  describe("given an installation of 0.2.0", () => {
    /** Transactions that add a factory: both implementations and the factory itself. */
    const ADDED = 3;

    /** Its contracts have other bytes than those of 0.2.0, so they must not be where the present ones will be. */
    async function moveAway(address: string): Promise<string> {
      const moved = address.replace(/.{4}$/, (end) => (end === "0020" ? "0021" : "0020"));
      await node.provider.send("anvil_setCode", [moved, await node.provider.getCode(address)]);
      await node.provider.send("anvil_setCode", [address, "0x"]);
      await node.provider.send("anvil_setNonce", [address, "0x0"]);
      return getAddress(moved.toLowerCase());
    }

    /** The file that 0.2.0 wrote, after the same five transactions. */
    async function deployOld(): Promise<Record<string, unknown>> {
      await deploy({ storage: "standard" });
      const { relay, factories, delegate, deployedAt } = (await readDeploymentFile(plan()))!;
      const factory = await moveAway(factories[0].address);
      const erc721Implementation = await moveAway(factories[0].erc721Implementation);
      const erc1155Implementation = await moveAway(factories[0].erc1155Implementation);
      const old = { relay, erc721Implementation, erc1155Implementation, factory, delegate, deployedAt };
      await writeFile(fileOf(), JSON.stringify(old));
      return old;
    }

    it("adds only a factory whose collections have signed burns, and keeps everything else", async () => {
      const old = await deployOld();
      const dry = await deploy({ dryRun: true });
      expect(dry.result).to.equal(null);
      expect(dry.output).to.match(
        /erc721Implementation about \d+ gas.*\n {2}erc1155Implementation about .*\n {2}factory about \d+ gas.*\n {2}total/,
      );
      expect(dry.output).to.not.match(/relay about|delegate about/);
      expect(await sent()).to.equal(STEPS.length);

      const { output } = await deploy();
      expect(output).to.match(
        /New ERC721 collections have compact storage after a restart of the service with this file/,
      );
      expect(await sent()).to.equal(STEPS.length + ADDED);
      const { relay, factories, delegate, deployedAt } = (await readDeploymentFile(plan()))!;
      expect({ relay, delegate, deployedAt }).to.deep.equal({
        relay: old["relay"],
        delegate: old["delegate"],
        deployedAt: old["deployedAt"],
      });
      expect(
        factories.map(({ storage, signedBurns, address }) => [storage, signedBurns, address === old["factory"]]),
      ).to.deep.equal([
        ["compact", true, false],
        ["standard", false, true],
      ]);
      const added = CollectionFactory__factory.connect(factories[0].address, node.provider);
      expect(await added.relay()).to.equal(relay);
      expect(await added.erc1155Implementation()).to.equal(factories[0].erc1155Implementation);
      expect(await added.erc721Implementation()).to.equal(factories[0].erc721Implementation);

      expect((await deploy()).output).to.match(/^Already deployed/);
      expect(await sent()).to.equal(STEPS.length + ADDED);
    });

    it("adds a second kind with the same ERC1155 implementation, and changes between them without a transaction", async () => {
      await deployOld();
      await deploy();
      const order = async () => (await readDeploymentFile(plan()))!.factories.map(({ storage }) => storage);
      expect((await deploy({ storage: "standard" })).output).to.match(/New ERC721 collections have standard storage/);
      expect(await order()).to.deep.equal(["standard", "compact", "standard"]);
      await deploy();
      expect(await order()).to.deep.equal(["standard", "compact", "standard"]);
      await deploy({ storage: "compact" });
      expect(await order()).to.deep.equal(["compact", "standard", "standard"]);
      expect(await sent()).to.equal(STEPS.length + ADDED + 2);
    });
  });

  it("given an unfinished deployment with another storage: says how to finish it, and finishes it when none is named", async () => {
    await interruptAfter(2, { storage: "standard" });
    const refused = await rejectionOf(deploy({ storage: "compact" }));
    expect(refused.message).to.match(/An unfinished deployment .* the storage standard\. .*--storage to finish it/);
    expect((await deploy()).result?.factories.map(({ storage }) => storage)).to.deep.equal(["standard"]);
    expect(await sent()).to.equal(STEPS.length);
  });

  it("given a dry run: prints what the chain supports and what the deployment then uses, within 10 %, and sends nothing", async () => {
    const { result, output } = await deploy({ dryRun: true });
    expect(result).to.equal(null);
    expect(await sent()).to.equal(0);
    for (const feature of ["PUSH0", "MCOPY", "transient storage", "base fee", "delegation"])
      expect(output).to.match(new RegExp(`chain\\s+${feature} \\(EIP-\\d+\\): yes\n`));
    const estimated = Number(/total\s+about (\d+) gas/.exec(output)?.[1]);
    const done = await deploy();
    const hashes = [...done.output.matchAll(/sent: (0x[0-9a-f]{64})/g)].map((match) => match[1] ?? "");
    expect(hashes).to.have.length(STEPS.length);
    let used = 0;
    for (const hash of hashes) used += Number((await node.provider.getTransactionReceipt(hash))?.gasUsed);
    expect(estimated).to.be.within(used, used * 1.1);
  });

  it("given the deployer cannot pay: prints the missing amount and sends nothing", async () => {
    const poor = Wallet.createRandom(node.provider);
    const refused = await rejectionOf(deploy({}, new Wallet(poor.privateKey, node.provider)));
    expect(refused).to.be.instanceOf(OperatorError);
    expect(refused.message).to.match(
      /The deployer lacks [\d.]+\. Send it funds, then run this again\. Nothing was sent\./,
    );
    expect(existsSync(fileOf())).to.equal(false);
  });
});

describe("deployContracts on a chain that still has the rules of the Shanghai hard fork", () => {
  const folder = useFolder();
  const node = useAnvil(CHAIN, ["--hardfork", "shanghai"]);

  it("names what is missing, and sends nothing", async () => {
    const deployer = new Wallet(ANVIL_KEY, node.provider);
    const hostedBase = "https://nft.example/metadata/";
    let output = "";
    const wanted = {
      ...{ chainId: BigInt(CHAIN), owner: deployer.address, operators: [] },
      ...{ hostedBase, storage: null, dryRun: false, folder: folder.path },
    };
    const refused = await rejectionOf(deployContracts(wanted, deployer, (line) => (output += `${line}\n`)));
    expect(output).to.match(/PUSH0 \(EIP-3855\): yes/);
    expect(output).to.match(/delegation \(EIP-7702\): no/);
    expect(refused.message).to.match(
      /^This chain does not support MCOPY \(EIP-5656\), transient storage \(EIP-1153\)\. .* Nothing was sent\./,
    );
    expect(await node.provider.getTransactionCount(deployer.address)).to.equal(0);
  });
});
