import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { describeStorages, item, run } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { setUpWith } from "./set-up.ts";

describeStorages("ERC721Collection", (storage) => {
  const setUp = () => setUpWith(storage);

  describe("maxSupply and lowerMaxSupply", () => {
    it("return the maximum supply of the creation", async () => {
      const { collection, capped } = await setUp();
      expect([await collection.maxSupply(), await capped.maxSupply()]).to.deep.equal([0n, 3n]);
    });

    it("lower the maximum down to the number of minted tokens", async () => {
      const { capped, relay, admin, alice } = await setUp();
      await run(relay, await item(capped, "mint", alice.address));
      for (const [from, to] of [
        [3n, 2n],
        [2n, 1n],
      ] as const) {
        await expect(capped.connect(admin).lowerMaxSupply(to)).to.emit(capped, "MaxSupplyLowered").withArgs(from, to);
        expect(await capped.maxSupply()).to.equal(to);
      }
      expect(await capped.totalMinted()).to.equal(1n);
      await expectFailure(relay, await item(capped, "mint", alice.address), capped, "ERC721ExceededMaxSupply", 1n);
    });

    it("limit an unlimited collection before its first mint", async () => {
      const { collection, relay, admin, alice } = await setUp();
      await expect(collection.connect(admin).lowerMaxSupply(2n))
        .to.emit(collection, "MaxSupplyLowered")
        .withArgs(0n, 2n);
      const mint = await item(collection, "mint", alice.address);
      await expect(run(relay, mint, mint, mint)).to.emit(relay, "CallFailed");
      expect(await collection.totalMinted()).to.equal(2n);
    });

    it("revert with ERC721InvalidMaxSupply for a maximum that is zero, not lower, or below the minted tokens", async () => {
      const { collection, capped, relay, admin, alice } = await setUp();
      const mint = await item(capped, "mint", alice.address);
      await run(relay, mint, mint);
      for (const value of [0n, 1n, 3n, 4n, 2n ** 64n - 1n, 2n ** 64n + 2n, 2n ** 256n - 1n]) {
        await expect(capped.connect(admin).lowerMaxSupply(value))
          .to.be.revertedWithCustomError(capped, "ERC721InvalidMaxSupply")
          .withArgs(value, 2n, 3n);
      }
      for (const value of [0n, 2n ** 64n - 1n, 2n ** 64n]) {
        await expect(collection.connect(admin).lowerMaxSupply(value))
          .to.be.revertedWithCustomError(collection, "ERC721InvalidMaxSupply")
          .withArgs(value, 0n, 0n);
      }
    });

    it("revert with OwnableUnauthorizedAccount for any other caller", async () => {
      const { capped, stranger } = await setUp();
      await expect(capped.connect(stranger).lowerMaxSupply(1n))
        .to.be.revertedWithCustomError(capped, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
    });
  });

  describe("burn", () => {
    it("burns a token, for its holder and the accounts that the holder approved", async () => {
      const { collection, alice, bob, carol, mintTo } = await setUp();
      await mintTo(alice.address, alice.address, alice.address);
      await collection.connect(alice).approve(bob.address, 2n);
      await collection.connect(alice).setApprovalForAll(carol.address, true);
      for (const [caller, id] of [
        [alice, 1n],
        [bob, 2n],
        [carol, 3n],
      ] as const) {
        await expect(collection.connect(caller).burn(id))
          .to.emit(collection, "Transfer")
          .withArgs(alice.address, ZeroAddress, id);
      }
      expect([await collection.totalMinted(), await collection.totalSupply()]).to.deep.equal([3n, 0n]);
    });

    it("never reuses the id", async () => {
      const { collection, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await collection.connect(alice).burn(1n);
      await mintTo(alice.address);
      expect(await collection.ownerOf(2n)).to.equal(alice.address);
      await expect(collection.ownerOf(1n))
        .to.be.revertedWithCustomError(collection, "ERC721NonexistentToken")
        .withArgs(1n);
    });

    it("reverts with ERC721InsufficientApproval for others, also the service and the collection's owner", async () => {
      const { collection, relay, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(admin).burn(1n))
        .to.be.revertedWithCustomError(collection, "ERC721InsufficientApproval")
        .withArgs(admin.address, 1n);
      const call = await item(collection, "burn", 1n);
      await expectFailure(relay, call, collection, "ERC721InsufficientApproval", relay.target, 1n);
    });

    it("reverts with ERC721NonexistentToken for an unknown id", async () => {
      const { collection, alice } = await setUp();
      await expect(collection.connect(alice).burn(1n))
        .to.be.revertedWithCustomError(collection, "ERC721NonexistentToken")
        .withArgs(1n);
    });
  });
});
