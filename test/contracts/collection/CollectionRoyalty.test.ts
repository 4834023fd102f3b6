import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import type { ICollection } from "../../../types/ethers-contracts/index.js";
import { networkHelpers } from "../support/deploy.ts";
import { emits, reverts } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: royalty`, () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture(deploy);
      const royaltyOf = async (collection: ICollection, price: bigint) => [
        ...(await collection.royaltyInfo(1n, price)),
      ];
      return { ...system, royaltyOf, set: system.owned.connect(system.owner) };
    }

    it("is that of the creation, and does not overflow, whatever the price", async () => {
      const { owned, hosted, set, carol, royaltyOf } = await setUp();
      expect(await royaltyOf(owned, 10_000n)).to.deep.equal([carol.address, 500n]);
      expect(await royaltyOf(owned, 19n)).to.deep.equal([carol.address, 0n]);
      expect(await royaltyOf(hosted, 10_000n)).to.deep.equal([ZeroAddress, 0n]);
      expect(await royaltyOf(owned, MaxUint256)).to.deep.equal([carol.address, (MaxUint256 * 500n) / 10_000n]);
      await set.setRoyalty(carol.address, 10_000n);
      expect(await royaltyOf(owned, MaxUint256)).to.deep.equal([carol.address, MaxUint256]);
    });

    it("is replaced and removed by setRoyalty, also that of the creation", async () => {
      const { owned, set, bob, royaltyOf } = await setUp();
      await emits(set.setRoyalty(bob.address, 10_000n), owned, "RoyaltyUpdated", bob.address, 10_000n);
      expect(await royaltyOf(owned, 7n)).to.deep.equal([bob.address, 7n]);
      await emits(set.setRoyalty(ZeroAddress, 0n), owned, "RoyaltyUpdated", ZeroAddress, 0n);
      expect(await royaltyOf(owned, 10_000n)).to.deep.equal([ZeroAddress, 0n]);
    });

    it("cannot be above the price, without a recipient, or set by others than the owner", async () => {
      const { owned, set, admin, bob } = await setUp();
      for (const [recipient, basisPoints] of [
        [bob.address, 10_001n],
        [bob.address, MaxUint256],
        [bob.address, 65_536n],
        [ZeroAddress, 1n],
      ] as const) {
        await reverts(
          set.setRoyalty(recipient, basisPoints),
          owned,
          "CollectionInvalidRoyalty",
          recipient,
          basisPoints,
        );
      }
      for (const attempt of [
        () => owned.connect(admin).setRoyalty(admin.address, 1n),
        () => owned.connect(admin).freezeRoyalty(),
      ]) {
        await reverts(attempt(), owned, "OwnableUnauthorizedAccount", admin.address);
      }
    });

    it("is frozen for good by freezeRoyalty", async () => {
      const { owned, set, bob, carol, royaltyOf } = await setUp();
      expect(await owned.royaltyFrozen()).to.equal(false);
      await emits(set.freezeRoyalty(), owned, "RoyaltyFrozen");
      expect(await owned.royaltyFrozen()).to.equal(true);
      for (const attempt of [() => set.setRoyalty(bob.address, 1n), () => set.freezeRoyalty()]) {
        await reverts(attempt(), owned, "CollectionRoyaltyFrozen");
      }
      expect(await royaltyOf(owned, 10_000n)).to.deep.equal([carol.address, 500n]);
    });
  });
}
