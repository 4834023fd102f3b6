import type { HardhatEthersSigner } from "@nomicfoundation/hardhat-ethers/types";
import { expect } from "chai";
import { ZeroAddress } from "ethers";

import type { ICollection, Relay } from "../../../types/ethers-contracts/index.js";
import { networkHelpers } from "../support/deploy.ts";
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

    describe("given no owner at creation", () => {
      it("belongs to the current owner of the relay", async () => {
        const { hosted, relay, admin, alice } = await setUp();
        expect(await hosted.owner()).to.equal(admin.address);
        await handOver(relay, admin, alice);
        expect(await hosted.owner()).to.equal(alice.address);
        await expect(hosted.connect(alice).setContractURI("x")).to.emit(hosted, "ContractURIUpdated").withArgs();
      });
    });

    describe("given an owner at creation", () => {
      it("belongs to that owner", async () => {
        const { owned, owner, admin } = await setUp();
        expect(await owned.owner()).to.equal(owner.address);
        await expect(owned.connect(admin).setContractURI("x"))
          .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
          .withArgs(admin.address);
      });
    });

    describe("transferOwnership and acceptOwnership", () => {
      it("move the ownership in two steps", async () => {
        const { owned, owner, alice } = await setUp();
        await expect(owned.connect(owner).transferOwnership(alice.address))
          .to.emit(owned, "OwnershipTransferStarted")
          .withArgs(owner.address, alice.address);
        expect(await owned.owner()).to.equal(owner.address);
        expect(await owned.pendingOwner()).to.equal(alice.address);
        await expect(owned.connect(alice).acceptOwnership())
          .to.emit(owned, "OwnershipTransferred")
          .withArgs(owner.address, alice.address);
        expect(await owned.owner()).to.equal(alice.address);
        expect(await owned.pendingOwner()).to.equal(ZeroAddress);
      });

      it("move the ownership on from the new owner", async () => {
        const { hosted, admin, alice, bob } = await setUp();
        await handOver(hosted, admin, alice);
        await handOver(hosted, alice, bob);
        expect(await hosted.owner()).to.equal(bob.address);
      });

      it("keep the new owner when the relay's owner changes later", async () => {
        const { hosted, relay, admin, alice, bob } = await setUp();
        await handOver(hosted, admin, alice);
        await handOver(relay, admin, bob);
        expect(await hosted.owner()).to.equal(alice.address);
      });

      it("revert with OwnableUnauthorizedAccount for others", async () => {
        const { owned, owner, alice, stranger } = await setUp();
        await owned.connect(owner).transferOwnership(alice.address);
        for (const attempt of [
          () => owned.connect(stranger).transferOwnership(stranger.address),
          () => owned.connect(stranger).acceptOwnership(),
          () => owned.connect(stranger).renounceOwnership(),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
            .withArgs(stranger.address);
        }
        await expect(owned.connect(owner).acceptOwnership())
          .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
          .withArgs(owner.address);
      });
    });

    describe("given a withdrawn offer", () => {
      it("cannot be accepted", async () => {
        const { owned, owner, alice } = await setUp();
        await owned.connect(owner).transferOwnership(alice.address);
        await owned.connect(owner).transferOwnership(ZeroAddress);
        await expect(owned.connect(alice).acceptOwnership())
          .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
          .withArgs(alice.address);
      });
    });

    describe("given an offer of a former owner of the relay", () => {
      it("cannot be accepted", async () => {
        const { hosted, relay, admin, alice, bob } = await setUp();
        await hosted.connect(admin).transferOwnership(alice.address);
        expect(await hosted.pendingOwner()).to.equal(alice.address);
        await handOver(relay, admin, bob);
        expect(await hosted.pendingOwner()).to.equal(ZeroAddress);
        await expect(hosted.connect(alice).acceptOwnership())
          .to.be.revertedWithCustomError(hosted, "OwnableUnauthorizedAccount")
          .withArgs(alice.address);
      });
    });

    describe("given an offer of an owner of the relay who left and came back", () => {
      it("stays void until it is made again", async () => {
        const { hosted, relay, admin, alice, bob } = await setUp();
        await hosted.connect(admin).transferOwnership(alice.address);
        await handOver(relay, admin, bob);
        await handOver(relay, bob, admin);
        expect(await hosted.owner()).to.equal(admin.address);
        expect(await hosted.pendingOwner()).to.equal(ZeroAddress);
        await expect(hosted.connect(alice).acceptOwnership())
          .to.be.revertedWithCustomError(hosted, "OwnableUnauthorizedAccount")
          .withArgs(alice.address);
        await handOver(hosted, admin, alice);
        expect(await hosted.owner()).to.equal(alice.address);
      });
    });

    describe("given an offer of an owner named at creation", () => {
      it("survives a change of the relay's owner", async () => {
        const { owned, owner, relay, admin, alice, bob } = await setUp();
        await owned.connect(owner).transferOwnership(alice.address);
        await handOver(relay, admin, bob);
        expect(await owned.pendingOwner()).to.equal(alice.address);
        await owned.connect(alice).acceptOwnership();
        expect(await owned.owner()).to.equal(alice.address);
      });
    });

    describe("given the relay as new owner", () => {
      it("reverts with OwnableInvalidOwner, because every operator could act as the owner", async () => {
        const { hosted, owned, relay, admin, owner } = await setUp();
        for (const offer of [
          hosted.connect(admin).transferOwnership(relay.target),
          owned.connect(owner).transferOwnership(relay.target),
        ]) {
          await expect(offer).to.be.revertedWithCustomError(hosted, "OwnableInvalidOwner").withArgs(relay.target);
        }
        expect(await owned.pendingOwner()).to.equal(ZeroAddress);
      });
    });

    describe("renounceOwnership", () => {
      it("removes the owner for good", async () => {
        const { hosted, admin, alice } = await setUp();
        await hosted.connect(admin).transferOwnership(alice.address);
        await expect(hosted.connect(admin).renounceOwnership())
          .to.emit(hosted, "OwnershipTransferred")
          .withArgs(admin.address, ZeroAddress);
        expect(await hosted.owner()).to.equal(ZeroAddress);
        expect(await hosted.pendingOwner()).to.equal(ZeroAddress);
        for (const caller of [admin, alice]) {
          await expect(hosted.connect(caller).acceptOwnership())
            .to.be.revertedWithCustomError(hosted, "OwnableUnauthorizedAccount")
            .withArgs(caller.address);
        }
      });
    });
  });
}
