import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { EPOCH, ethers, HOSTED_BASE_URI, item, nextNumber, run } from "../support/deploy.ts";
import { emits, expectFailure, reverts } from "../support/expect-failure.ts";
import { setUp } from "./set-up.ts";

describe("Relay: administration", () => {
  it("begins with the owner and the hosted base of the constructor", async () => {
    const { relay, admin } = await setUp();
    expect(await relay.owner()).to.equal(admin.address);
    expect(await relay.hostedBaseURI()).to.equal(HOSTED_BASE_URI);
    const deployed = await ethers.deployContract("Relay", [admin.address, "x"]);
    await emits(deployed.deploymentTransaction(), deployed, "HostedBaseURIUpdated", "x");
    const factory = await ethers.getContractFactory("Relay");
    await reverts(factory.deploy(ZeroAddress, HOSTED_BASE_URI), factory, "OwnableInvalidOwner", ZeroAddress);
  });

  it("changes the hosted base for the owner of the moment, who is replaced in two steps, offer and acceptance", async () => {
    const { relay, admin, alice, stranger } = await setUp();
    const set = (caller: typeof admin, uri: string) => relay.connect(caller).setHostedBaseURI(uri);
    await emits(set(admin, "https://new.example/"), relay, "HostedBaseURIUpdated", "https://new.example/");
    expect(await relay.hostedBaseURI()).to.equal("https://new.example/");
    await relay.connect(admin).transferOwnership(alice.address);
    expect(await relay.owner()).to.equal(admin.address);
    const accepted = relay.connect(stranger).acceptOwnership();
    await reverts(accepted, relay, "OwnableUnauthorizedAccount", stranger.address);
    await relay.connect(alice).acceptOwnership();
    expect(await relay.owner()).to.equal(alice.address);
    await reverts(set(admin, "x"), relay, "OwnableUnauthorizedAccount", admin.address);
    await set(alice, "y");
    expect(await relay.hostedBaseURI()).to.equal("y");
    await reverts(relay.connect(alice).renounceOwnership(), relay, "RelayOwnershipRequired");
  });

  it("cancels numbers without running a call, for operators and the owner, also while it is paused", async () => {
    const { relay, admin, operator, probe, stranger } = await setUp();
    for (const caller of [operator, admin]) {
      const number = nextNumber();
      const tx = relay.connect(caller).cancel([number, number + 1_000n]);
      for (const cancelled of [number, number + 1_000n]) await emits(tx, relay, "NumberCancelled", cancelled);
      await emits(run(relay, { ...(await item(probe, "count")), number }), relay, "CallSkipped", number);
      expect(await probe.runs(number)).to.equal(0n);
      // A consumed number is ignored.
      await expect(relay.cancel([number])).not.to.emit(relay, "NumberCancelled");
      expect(await relay.isConsumed(number)).to.equal(true);
    }
    await relay.connect(admin).pause();
    await emits(relay.cancel([EPOCH]), relay, "NumberCancelled", EPOCH);
    await reverts(relay.connect(stranger).cancel([1n]), relay, "RelayUnauthorizedOperator", stranger.address);
  });

  it("adds and removes operators, stops and resumes batches", async () => {
    const { relay, admin, alice } = await setUp();
    for (const allowed of [true, false]) {
      const set = relay.connect(admin).setOperator(alice.address, allowed);
      await emits(set, relay, "OperatorSet", alice.address, allowed);
      expect(await relay.isOperator(alice.address)).to.equal(allowed);
    }
    await emits(relay.connect(admin).pause(), relay, "Paused", admin.address);
    await emits(relay.connect(admin).unpause(), relay, "Unpaused", admin.address);
    await emits(relay.execute([]), relay, "BatchExecuted", 0n);
  });

  it("is refused to all but the owner, also to operators, who cannot do it in a batch either", async () => {
    const { relay, stranger, operator } = await setUp();
    for (const caller of [stranger, operator]) {
      const as = relay.connect(caller);
      for (const attempt of [
        () => as.setOperator(caller.address, true),
        () => as.setHostedBaseURI("x"),
        () => as.pause(),
        () => as.unpause(),
        () => as.transferOwnership(caller.address),
        () => as.renounceOwnership(),
      ])
        await reverts(attempt(), relay, "OwnableUnauthorizedAccount", caller.address);
    }
    await expectFailure(relay, await item(relay, "setHostedBaseURI", "x"), relay, "RelayInvalidTarget", relay.target);
  });
});
