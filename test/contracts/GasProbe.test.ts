import { expect } from "chai";

import { ethers } from "./support/deploy.ts";

describe("GasProbe", () => {
  describe("measure", () => {
    const burner = "0x00000000000000000000000000000000000b0b00";

    /** A probe that has used slot 0, as the relay has. */
    async function deploy() {
      const probe = await ethers.deployContract("GasProbe");
      await ethers.provider.send("hardhat_setStorageAt", [await probe.getAddress(), "0x0", ethers.zeroPadValue("0x01", 32)]);
      return probe;
    }

    it("answers the prices of a new slot, of an update and of an account", async () => {
      const probe = await deploy();
      const { prices } = await probe.measure.staticCall([]);
      expect(prices.newSlot).to.be.within(22_100n, 22_120n);
      expect(prices.slotUpdate).to.be.within(5_000n, 5_030n);
      expect(prices.account).to.be.within(2_600n, 2_620n);
    });

    it("answers the gas of each step, including what an earlier step made cheaper", async () => {
      const probe = await deploy();
      // Increments slot 0: PUSH0 SLOAD PUSH1 1 ADD PUSH0 SSTORE.
      await ethers.provider.send("hardhat_setCode", [burner, "0x5f546001015f55"]);
      const { used } = await probe.measure.staticCall([
        { target: burner, data: "0x" },
        { target: burner, data: "0x" },
      ]);
      // A cold account, a cold slot and a new value; then both are warm and the slot is already changed.
      expect(used[0]).to.be.within(24_700n, 25_000n);
      expect(used[1]).to.be.within(300n, 600n);
    });

    it("reverts with the position and the reason when a step fails", async () => {
      const probe = await deploy();
      // PUSH1 42 PUSH0 MSTORE PUSH1 32 PUSH0 REVERT
      await ethers.provider.send("hardhat_setCode", [burner, "0x602a5f5260205ffd"]);
      await expect(
        probe.measure.staticCall([
          { target: ethers.ZeroAddress, data: "0x" },
          { target: burner, data: "0x" },
        ]),
      )
        .to.be.revertedWithCustomError(probe, "GasProbeStepFailed")
        .withArgs(1n, ethers.zeroPadValue("0x2a", 32));
    });
  });
});
