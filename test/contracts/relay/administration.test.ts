import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { EPOCH, ethers, HOSTED_BASE_URI, item, nextNumber, run } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { setUp } from "./set-up.ts";

describe("Relay", () => {
  describe("constructor", () => {
    it("sets the owner and the hosted base", async () => {
      const { relay, admin } = await setUp();
      expect(await relay.owner()).to.equal(admin.address);
      expect(await relay.hostedBaseURI()).to.equal(HOSTED_BASE_URI);
      const deployed = await ethers.deployContract("Relay", [admin.address, "x"]);
      await expect(deployed.deploymentTransaction()).to.emit(deployed, "HostedBaseURIUpdated").withArgs("x");
    });

    it("reverts with OwnableInvalidOwner for the zero address", async () => {
      const factory = await ethers.getContractFactory("Relay");
      await expect(factory.deploy(ZeroAddress, HOSTED_BASE_URI))
        .to.be.revertedWithCustomError(factory, "OwnableInvalidOwner")
        .withArgs(ZeroAddress);
    });
  });

  describe("setHostedBaseURI", () => {
    it("changes the hosted base, for the owner of the moment", async () => {
      const { relay, admin, alice } = await setUp();
      await expect(relay.connect(admin).setHostedBaseURI("https://new.example/"))
        .to.emit(relay, "HostedBaseURIUpdated")
        .withArgs("https://new.example/");
      expect(await relay.hostedBaseURI()).to.equal("https://new.example/");
      await relay.connect(admin).transferOwnership(alice.address);
      await relay.connect(alice).acceptOwnership();
      await expect(relay.connect(admin).setHostedBaseURI("x"))
        .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
        .withArgs(admin.address);
      await relay.connect(alice).setHostedBaseURI("y");
      expect(await relay.hostedBaseURI()).to.equal("y");
    });

    it("reverts with OwnableUnauthorizedAccount for operators, and cannot be an item of a batch", async () => {
      const { relay, operator } = await setUp();
      await expect(relay.connect(operator).setHostedBaseURI("x"))
        .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
        .withArgs(operator.address);
      await expectFailure(relay, await item(relay, "setHostedBaseURI", "x"), relay, "RelayInvalidTarget", relay.target);
    });
  });

  describe("cancel", () => {
    it("consumes numbers without running a call, for operators and the owner", async () => {
      const { relay, admin, operator, probe } = await setUp();
      for (const caller of [operator, admin]) {
        const number = nextNumber();
        const tx = relay.connect(caller).cancel([number, number + 1_000n]);
        await expect(tx).to.emit(relay, "NumberCancelled").withArgs(number);
        await expect(tx)
          .to.emit(relay, "NumberCancelled")
          .withArgs(number + 1_000n);
        await expect(run(relay, { ...(await item(probe, "count")), number }))
          .to.emit(relay, "CallSkipped")
          .withArgs(number);
        expect(await probe.runs(number)).to.equal(0n);
      }
    });

    it("ignores a consumed number and emits no event", async () => {
      const { relay, probe } = await setUp();
      const number = nextNumber();
      await run(relay, { ...(await item(probe, "count")), number });
      await expect(relay.cancel([number])).not.to.emit(relay, "NumberCancelled");
      expect(await relay.isConsumed(number)).to.equal(true);
    });

    it("works while the relay is paused", async () => {
      const { relay, admin } = await setUp();
      await relay.connect(admin).pause();
      await expect(relay.cancel([EPOCH]))
        .to.emit(relay, "NumberCancelled")
        .withArgs(EPOCH);
    });

    it("reverts with RelayUnauthorizedOperator for any other caller", async () => {
      const { relay, stranger } = await setUp();
      await expect(relay.connect(stranger).cancel([1n]))
        .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
        .withArgs(stranger.address);
    });
  });

  describe("setOperator", () => {
    it("adds and removes an operator and emits OperatorSet", async () => {
      const { relay, admin, alice } = await setUp();
      for (const allowed of [true, false]) {
        await expect(relay.connect(admin).setOperator(alice.address, allowed))
          .to.emit(relay, "OperatorSet")
          .withArgs(alice.address, allowed);
        expect(await relay.isOperator(alice.address)).to.equal(allowed);
      }
    });
  });

  describe("pause and unpause", () => {
    it("stop and resume batches", async () => {
      const { relay, admin } = await setUp();
      await expect(relay.connect(admin).pause()).to.emit(relay, "Paused").withArgs(admin.address);
      await expect(relay.connect(admin).unpause()).to.emit(relay, "Unpaused").withArgs(admin.address);
      await expect(relay.execute([])).to.emit(relay, "BatchExecuted").withArgs(0n);
    });
  });

  describe("ownership", () => {
    it("reverts with OwnableUnauthorizedAccount when another account administers the relay", async () => {
      const { relay, stranger, operator } = await setUp();
      for (const caller of [stranger, operator]) {
        const as = relay.connect(caller);
        for (const attempt of [
          () => as.setOperator(caller.address, true),
          () => as.pause(),
          () => as.unpause(),
          () => as.transferOwnership(caller.address),
          () => as.renounceOwnership(),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
            .withArgs(caller.address);
        }
      }
    });

    it("moves in two steps, offer and acceptance", async () => {
      const { relay, admin, alice, stranger } = await setUp();
      await relay.connect(admin).transferOwnership(alice.address);
      expect(await relay.owner()).to.equal(admin.address);
      await expect(relay.connect(stranger).acceptOwnership())
        .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
      await relay.connect(alice).acceptOwnership();
      expect(await relay.owner()).to.equal(alice.address);
    });

    it("reverts with RelayOwnershipRequired when the owner renounces it", async () => {
      const { relay, admin } = await setUp();
      await expect(relay.connect(admin).renounceOwnership())
        .to.be.revertedWithCustomError(relay, "RelayOwnershipRequired")
        .withArgs();
    });
  });
});
