import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import type { ICollection } from "../../../types/ethers-contracts/index.js";
import { networkHelpers } from "../support/deploy.ts";
import { KINDS } from "../support/kinds.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: royalty`, () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture(deploy);
      const royaltyOf = async (collection: ICollection, price: bigint) => [
        ...(await collection.royaltyInfo(1n, price)),
      ];
      return { ...system, royaltyOf };
    }

    describe("royaltyInfo", () => {
      it("returns the royalty of the creation", async () => {
        const { owned, hosted, carol, royaltyOf } = await setUp();
        expect(await royaltyOf(owned, 10_000n)).to.deep.equal([carol.address, 500n]);
        expect(await royaltyOf(owned, 19n)).to.deep.equal([carol.address, 0n]);
        expect(await royaltyOf(hosted, 10_000n)).to.deep.equal([ZeroAddress, 0n]);
      });

      it("does not overflow, whatever the price", async () => {
        const { owned, owner, carol, royaltyOf } = await setUp();
        expect(await royaltyOf(owned, MaxUint256)).to.deep.equal([carol.address, (MaxUint256 * 500n) / 10_000n]);
        await owned.connect(owner).setRoyalty(carol.address, 10_000n);
        expect(await royaltyOf(owned, MaxUint256)).to.deep.equal([carol.address, MaxUint256]);
      });
    });

    describe("setRoyalty", () => {
      it("replaces the royalty", async () => {
        const { owned, owner, bob, royaltyOf } = await setUp();
        await expect(owned.connect(owner).setRoyalty(bob.address, 10_000n))
          .to.emit(owned, "RoyaltyUpdated")
          .withArgs(bob.address, 10_000n);
        expect(await royaltyOf(owned, 7n)).to.deep.equal([bob.address, 7n]);
      });

      it("removes the royalty, also the one of the creation", async () => {
        const { owned, owner, royaltyOf } = await setUp();
        await expect(owned.connect(owner).setRoyalty(ZeroAddress, 0n))
          .to.emit(owned, "RoyaltyUpdated")
          .withArgs(ZeroAddress, 0n);
        expect(await royaltyOf(owned, 10_000n)).to.deep.equal([ZeroAddress, 0n]);
      });

      it("reverts with CollectionInvalidRoyalty above the price or without a recipient", async () => {
        const { owned, owner, bob } = await setUp();
        for (const [recipient, basisPoints] of [
          [bob.address, 10_001n],
          [bob.address, MaxUint256],
          [bob.address, 65_536n],
          [ZeroAddress, 1n],
        ] as const) {
          await expect(owned.connect(owner).setRoyalty(recipient, basisPoints))
            .to.be.revertedWithCustomError(owned, "CollectionInvalidRoyalty")
            .withArgs(recipient, basisPoints);
        }
      });
    });

    describe("freezeRoyalty", () => {
      it("freezes the royalty for good", async () => {
        const { owned, owner, bob, carol, royaltyOf } = await setUp();
        expect(await owned.royaltyFrozen()).to.equal(false);
        await expect(owned.connect(owner).freezeRoyalty()).to.emit(owned, "RoyaltyFrozen").withArgs();
        expect(await owned.royaltyFrozen()).to.equal(true);
        for (const attempt of [
          () => owned.connect(owner).setRoyalty(bob.address, 1n),
          () => owned.connect(owner).freezeRoyalty(),
        ]) {
          await expect(attempt()).to.be.revertedWithCustomError(owned, "CollectionRoyaltyFrozen").withArgs();
        }
        expect(await royaltyOf(owned, 10_000n)).to.deep.equal([carol.address, 500n]);
      });
    });

    describe("given the caller is not the owner", () => {
      it("reverts with OwnableUnauthorizedAccount", async () => {
        const { owned, admin } = await setUp();
        for (const attempt of [
          () => owned.connect(admin).setRoyalty(admin.address, 1n),
          () => owned.connect(admin).freezeRoyalty(),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
            .withArgs(admin.address);
        }
      });
    });
  });
}
