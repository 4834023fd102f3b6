import { expect } from "chai";

import { network } from "hardhat";

// The figures are those of one hard fork.
const { ethers } = await network.create({ network: "default", override: { hardfork: "osaka" } });

const PROBED = "0x00000000000000000000000000000000000b0b01";
const TARGET = "0x00000000000000000000000000000000000b0b02";

interface Step {
  target: string;
  data: string;
}

interface Answer {
  newSlot: bigint;
  slotUpdate: bigint;
  account: bigint;
  used: bigint[];
}

describe("GasProbe", () => {
  /** Runs the probe as the service does, in place of the code of an account that has used slot 0. */
  async function measure(steps: Step[]): Promise<Answer> {
    const probe = await ethers.getContractFactory("GasProbe");
    const { data: code } = await probe.getDeployTransaction(steps);
    const overrides = { [PROBED]: { code, stateDiff: { [ethers.ZeroHash]: ethers.zeroPadValue("0x01", 32) } } };
    const answer = (await ethers.provider.send("eth_call", [{ to: PROBED }, "latest", overrides])) as string;
    const [[newSlot, slotUpdate, account], used] = ethers.AbiCoder.defaultAbiCoder().decode(
      ["tuple(uint256,uint256,uint256)", "uint256[]"],
      answer,
    ) as unknown as [[bigint, bigint, bigint], bigint[]];
    return { newSlot, slotUpdate, account, used: [...used] };
  }

  it("answers the prices of a new slot, of an update and of an account", async () => {
    const { newSlot, slotUpdate, account } = await measure([]);
    expect(newSlot).to.be.within(22_100n, 22_120n);
    expect(slotUpdate).to.be.within(5_000n, 5_030n);
    expect(account).to.be.within(2_600n, 2_620n);
  });

  it("answers the gas of each step, including what an earlier step made cheaper", async () => {
    // Increments slot 0: PUSH0 SLOAD PUSH1 1 ADD PUSH0 SSTORE.
    await ethers.provider.send("hardhat_setCode", [TARGET, "0x5f546001015f55"]);
    const { used } = await measure([
      { target: TARGET, data: "0x" },
      { target: TARGET, data: "0x" },
    ]);
    // A cold account, a cold slot and a new value; then both are warm and the slot is already changed.
    expect(used[0]).to.be.within(24_700n, 25_100n);
    expect(used[1]).to.be.within(300n, 700n);
  });

  it("reverts with the position and the reason when a step fails", async () => {
    // PUSH1 42 PUSH0 MSTORE PUSH1 32 PUSH0 REVERT
    await ethers.provider.send("hardhat_setCode", [TARGET, "0x602a5f5260205ffd"]);
    const probe = await ethers.getContractFactory("GasProbe");
    const deployment = probe.getDeployTransaction([
      { target: ethers.ZeroAddress, data: "0x" },
      { target: TARGET, data: "0x" },
    ]);
    await expect(deployment.then((transaction) => ethers.provider.call(transaction)))
      .to.be.revertedWithCustomError(probe, "GasProbeStepFailed")
      .withArgs(1n, ethers.zeroPadValue("0x2a", 32));
  });
});
