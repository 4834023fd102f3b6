import { expect } from "chai";

import { Relay__factory } from "../../contracts/generated/factories/Relay__factory.ts";
import { useFolder } from "../support/use-folder.ts";
import { startNode, type TestNode } from "../support/node.ts";
import { TestProcess } from "../support/process.ts";

const OPERATOR = "0x00000000000000000000000000000000000000A1";
const OTHER = "0x00000000000000000000000000000000000000A2";

describe("npm run relay", () => {
  const folder = useFolder({ per: "block" });
  let node: TestNode;
  let address: string;

  before(async () => {
    node = await startNode();
    const owner = await node.provider.getSigner(0);
    const relay = await new Relay__factory(owner).deploy(await owner.getAddress(), "http://localhost/");
    await relay.waitForDeployment();
    address = await relay.getAddress();
    await (await relay.setOperator(OTHER, true)).wait();
  });
  after(() => node.stop());

  async function run(...args: string[]): Promise<{ code: Awaited<ReturnType<TestProcess["gone"]>>; output: string }> {
    const cli = "node_modules/hardhat/dist/src/cli.js";
    const task = new TestProcess([cli, "relay", ...args, "--relay", address, "--network", "localhost"], {
      DATA_DIR: folder.path,
      DEPLOYMENTS_DIR: folder.path,
      LOCALHOST_RPC_URL: node.url,
    });
    return { code: await task.gone(), output: task.output };
  }
  const relay = () => Relay__factory.connect(address, node.provider);

  it("pauses the relay, removes an operator and cancels numbers", async () => {
    const paused = await run("pause");
    expect(paused.code).to.equal(0);
    expect(paused.output).to.match(/state\s+paused/);
    expect(await relay().paused()).to.equal(true);

    expect((await run("remove-operator", OTHER)).output).to.not.match(/operator\s+0x/);
    expect(await relay().isOperator(OTHER)).to.equal(false);

    expect((await run("cancel", "12", "13")).output).to.include("cancel([12, 13])");
    expect(await relay().isConsumed(13)).to.equal(true);
  });

  it("prints what the owner must send, when the owner is somebody else", async () => {
    const owner = await node.provider.getSigner(0);
    const multisig = await new Relay__factory(owner).deploy(OPERATOR, "http://localhost/");
    const own = address;
    address = await multisig.getAddress();
    try {
      const { code, output } = await run("pause");
      expect(code).to.equal(1);
      expect(output).to.include(`the owner ${OPERATOR} must send to ${address}: pause()`);
      expect(output).to.include(multisig.interface.encodeFunctionData("pause"));
      expect(await multisig.paused()).to.equal(false);
      expect((await run("status")).output).to.match(/state\s+not paused/);
    } finally {
      address = own;
    }
  });

  it("names the wrong word and sends nothing", async () => {
    const before = await relay().paused();
    const { code, output } = await run(before ? "unpause" : "pause", OPERATOR);
    expect(code).not.to.equal(0);
    expect(output).to.include("pause takes no values");
    expect(await relay().paused()).to.equal(before);
  });
});
