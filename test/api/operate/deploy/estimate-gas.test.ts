import { expect } from "chai";
import { Wallet } from "ethers";

import {
  create2Address,
  deploymentTransaction,
  findCreate2Deployer,
  initCode,
} from "../../../../api/chain/deployment.ts";
import { estimateSteps } from "../../../../api/operate/deploy/estimate-gas.ts";
import type { Journal } from "../../../../api/operate/deploy/journal.ts";
import { ANVIL_KEY } from "../../../support/node.ts";
import { useAnvil } from "../../../support/use-anvil.ts";

const WALLET = new Wallet(ANVIL_KEY);
const PLAN = {
  chainId: 84_532n,
  owner: WALLET.address,
  operators: [],
  hostedBase: "https://nft.example/",
  storage: "compact",
  dryRun: false,
  folder: "",
} as const;
const JOURNAL: Journal = {
  startBlock: 0,
  owner: PLAN.owner,
  hostedBase: PLAN.hostedBase,
  storage: PLAN.storage,
  signedBurns: true,
  placed: {},
  steps: {},
};

describe("the estimate of a deployment", () => {
  const node = useAnvil(84_532);

  it("knows a contract that is mined while it is estimated", async () => {
    const { provider } = node;
    const create2 = await findCreate2Deployer(provider);
    if (create2 === null) throw new Error("Anvil has no CREATE2 deployer");
    const code = await initCode("relay", PLAN, {});
    const relay = create2Address(create2, code);
    const sent = await WALLET.connect(provider).sendTransaction(deploymentTransaction(create2, code));
    await sent.wait();

    const looked = new Set<string>();
    const getCode = provider.getCode.bind(provider);
    // Answers the first look at the relay as the node did before the transaction was mined.
    provider.getCode = (address, block) => {
      const first = address === relay && !looked.has(relay);
      if (typeof address === "string") looked.add(address);
      return first ? Promise.resolve("0x") : getCode(address, block);
    };
    const steps = await estimateSteps(provider, JOURNAL, WALLET.address, create2);
    expect(looked).to.include(relay);
    expect(steps.find(({ step }) => step === "relay")?.gas).to.equal(null);
    expect(steps.filter(({ gas }) => gas !== null)).to.have.length(4);
  });
});
