import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { expect } from "chai";
import { ZeroAddress } from "ethers";

import type { ICollection, Relay } from "../../../types/ethers-contracts/index.js";
import { networkHelpers } from "../support/deploy.ts";
import { emits, reverts } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";

/** Moves the ownership in both steps. */
async function handOver(
  contract: Relay | ICollection,
  from: HardhatEthersSigner,
  to: HardhatEthersSigner,
): Promise<void> {
  await contract.connect(from).transferOwnership(to.address);
  await contract.connect(to).acceptOwnership();
}

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: ownership`, () => {
    const setUp = () => networkHelpers.loadFixture(deploy);

    it("is that of the relay's owner of the moment if none was named, until it is handed over", async () => {
      const { hosted, relay, admin, alice, bob } = await setUp();
      expect(await hosted.owner()).to.equal(admin.address);
      await handOver(relay, admin, alice);
      expect(await hosted.owner()).to.equal(alice.address);
      await emits(hosted.connect(alice).setContractURI("x"), hosted, "ContractURIUpdated");
      await handOver(hosted, alice, bob);
      await handOver(relay, alice, admin);
      expect(await hosted.owner()).to.equal(bob.address);
      await handOver(hosted, bob, alice);
      expect(await hosted.owner()).to.equal(alice.address);
    });

    it("is that of the owner named at creation, and moves in two steps, also while the relay's owner changes", async () => {
      const { owned, owner, relay, admin, alice, bob } = await setUp();
      expect(await owned.owner()).to.equal(owner.address);
      await reverts(owned.connect(admin).setContractURI("x"), owned, "OwnableUnauthorizedAccount", admin.address);
      const offered = [owner.address, alice.address];
      await emits(owned.connect(owner).transferOwnership(alice.address), owned, "OwnershipTransferStarted", ...offered);
      await handOver(relay, admin, bob);
      expect([await owned.owner(), await owned.pendingOwner()]).to.deep.equal(offered);
      await emits(owned.connect(alice).acceptOwnership(), owned, "OwnershipTransferred", ...offered);
      expect([await owned.owner(), await owned.pendingOwner()]).to.deep.equal([alice.address, ZeroAddress]);
    });

    it("cannot be moved by others, nor accepted once the offer is withdrawn", async () => {
      const { owned, owner, alice, stranger } = await setUp();
      await owned.connect(owner).transferOwnership(alice.address);
      for (const attempt of [
        () => owned.connect(stranger).transferOwnership(stranger.address),
        () => owned.connect(stranger).acceptOwnership(),
        () => owned.connect(stranger).renounceOwnership(),
      ]) {
        await reverts(attempt(), owned, "OwnableUnauthorizedAccount", stranger.address);
      }
      await reverts(owned.connect(owner).acceptOwnership(), owned, "OwnableUnauthorizedAccount", owner.address);
      await owned.connect(owner).transferOwnership(ZeroAddress);
      await reverts(owned.connect(alice).acceptOwnership(), owned, "OwnableUnauthorizedAccount", alice.address);
    });

    it("cannot be accepted from an owner of the relay who left, also if he came back, until it is offered again", async () => {
      const { hosted, relay, admin, alice, bob } = await setUp();
      await hosted.connect(admin).transferOwnership(alice.address);
      expect(await hosted.pendingOwner()).to.equal(alice.address);
      for (const [from, to] of [
        [admin, bob],
        [bob, admin],
      ] as const) {
        await handOver(relay, from, to);
        expect([await hosted.owner(), await hosted.pendingOwner()]).to.deep.equal([to.address, ZeroAddress]);
        await reverts(hosted.connect(alice).acceptOwnership(), hosted, "OwnableUnauthorizedAccount", alice.address);
      }
      await handOver(hosted, admin, alice);
      expect(await hosted.owner()).to.equal(alice.address);
    });

    it("cannot be offered to the relay, because every operator could act as the owner", async () => {
      const { hosted, owned, relay, admin, owner } = await setUp();
      for (const offer of [
        hosted.connect(admin).transferOwnership(relay.target),
        owned.connect(owner).transferOwnership(relay.target),
      ]) {
        await reverts(offer, hosted, "OwnableInvalidOwner", relay.target);
      }
      expect(await owned.pendingOwner()).to.equal(ZeroAddress);
    });

    it("can be renounced for good", async () => {
      const { hosted, admin, alice } = await setUp();
      await hosted.connect(admin).transferOwnership(alice.address);
      const renounced = hosted.connect(admin).renounceOwnership();
      await emits(renounced, hosted, "OwnershipTransferred", admin.address, ZeroAddress);
      expect([await hosted.owner(), await hosted.pendingOwner()]).to.deep.equal([ZeroAddress, ZeroAddress]);
      for (const caller of [admin, alice]) {
        await reverts(hosted.connect(caller).acceptOwnership(), hosted, "OwnableUnauthorizedAccount", caller.address);
      }
    });
  });
}
