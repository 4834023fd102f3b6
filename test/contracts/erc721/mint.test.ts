import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { Mode } from "../../support/receiver-mode.ts";
import { describeStorages, ethers, item, networkHelpers, nextNumber, run } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { setUpWith } from "./set-up.ts";

describeStorages("ERC721Collection", (storage) => {
  const setUp = () => setUpWith(storage);

  describe("mint", () => {
    it("assigns the ids 1, 2, 3 without gaps", async () => {
      const { collection, mintTo, alice, bob } = await setUp();
      const tx = mintTo(alice.address, bob.address, alice.address);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, alice.address, 1n);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, bob.address, 2n);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, alice.address, 3n);
      expect(await collection.totalMinted()).to.equal(3n);
      expect(await collection.balanceOf(alice.address)).to.equal(2n);
    });

    it("returns the new id", async () => {
      const { collection, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await collection.connect(admin).setMinter(admin.address, true);
      expect(await collection.connect(admin).mint.staticCall(alice.address)).to.equal(2n);
    });

    it("leaves no gap after a failed mint", async () => {
      const { collection, relay, receiver, alice, bob, mintTo } = await setUp();
      await receiver.program(Mode.reason);
      await expect(mintTo(alice.address, await receiver.getAddress(), bob.address)).to.emit(relay, "CallFailed");
      expect(await collection.ownerOf(2n)).to.equal(bob.address);
      expect(await collection.totalMinted()).to.equal(2n);
    });

    it("calls the hook of a receiver with code, with the relay as operator", async () => {
      const { collection, relay, receiver, mintTo } = await setUp();
      await mintTo(await receiver.getAddress());
      expect(await collection.ownerOf(1n)).to.equal(receiver.target);
      await receiver.program(Mode.reason);
      const call = await item(collection, "mint", receiver.target);
      await expectFailure(relay, call, receiver, "Refused", relay.target, ZeroAddress);
    });

    describe("given a receiver that does not accept", () => {
      for (const mode of ["lie", "empty", "burn", "revertMegabyte"] as const) {
        it(`fails when the receiver's hook answers: ${mode}`, async () => {
          const { collection, relay, receiver } = await setUp();
          await receiver.program(Mode[mode]);
          const number = nextNumber();
          const gasLimit = mode === "revertMegabyte" ? 8_000_000n : 1_000_000n;
          const tx = run(relay, { ...(await item(collection, "mint", receiver.target)), number, gasLimit });
          const invalid = collection.interface.encodeErrorResult("ERC721InvalidReceiver", [receiver.target]);
          const reason = mode === "revertMegabyte" ? (bytes: string) => bytes.length === 2 + 2 * 256 : invalid;
          await expect(tx).to.emit(relay, "CallFailed").withArgs(number, reason);
          expect(await collection.totalMinted()).to.equal(0n);
        });
      }

      it("fails for a contract with a single byte of code", async () => {
        const { collection, relay } = await setUp();
        const tiny = ethers.Wallet.createRandom().address;
        await networkHelpers.setCode(tiny, "0x00");
        const number = nextNumber();
        await expect(run(relay, { ...(await item(collection, "mint", tiny)), number }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, "0x");
      });

      it("fails with ERC721InvalidReceiver for a contract without hooks", async () => {
        const { collection, relay } = await setUp();
        const rejecting = await ethers.deployContract("RejectingReceiver");
        const call = await item(collection, "mint", rejecting.target);
        await expectFailure(relay, call, collection, "ERC721InvalidReceiver", rejecting.target);
      });

      it("fails within its gas limit when the hook returns a megabyte", async () => {
        const { collection, relay, receiver } = await setUp();
        await receiver.program(Mode.returnMegabyte);
        const number = nextNumber();
        await expect(run(relay, { ...(await item(collection, "mint", receiver.target)), number, gasLimit: 1_000_000n }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, (bytes: string) => bytes.startsWith("0x"));
        expect(await collection.totalMinted()).to.equal(0n);
      });
    });

    describe("given a receiver whose hook acts on the token", () => {
      it("stays consistent when the hook transfers it", async () => {
        const { collection, receiver, bob, mintTo } = await setUp();
        const move = collection.interface.encodeFunctionData("transferFrom", [receiver.target, bob.address, 1n]);
        await receiver.programCall(collection.target, move);
        await mintTo(await receiver.getAddress());
        expect(await collection.ownerOf(1n)).to.equal(bob.address);
        expect(await collection.balanceOf(receiver.target)).to.equal(0n);
      });

      it("stays consistent when the hook burns it", async () => {
        const { collection, receiver, alice, mintTo } = await setUp();
        await receiver.programCall(collection.target, collection.interface.encodeFunctionData("burn", [1n]));
        await mintTo(await receiver.getAddress(), alice.address);
        expect(await collection.ownerOf(2n)).to.equal(alice.address);
        expect([await collection.totalMinted(), await collection.totalSupply()]).to.deep.equal([2n, 1n]);
      });
    });

    it("fails with ERC721InvalidReceiver for the zero address", async () => {
      const { collection, relay } = await setUp();
      for (const fragment of ["mint", "mintToWallet"]) {
        const call = await item(collection, fragment, ZeroAddress);
        await expectFailure(relay, call, collection, "ERC721InvalidReceiver", ZeroAddress);
      }
    });

    describe("given the supply is exhausted", () => {
      it("fails with ERC721ExceededMaxSupply, also after a burn", async () => {
        const { capped, relay, alice } = await setUp();
        const mint = await item(capped, "mint", alice.address);
        await run(relay, mint, mint, mint);
        await capped.connect(alice).burn(2n);
        for (const fragment of ["mint", "mintToWallet"]) {
          const call = await item(capped, fragment, alice.address);
          await expectFailure(relay, call, capped, "ERC721ExceededMaxSupply", 3n);
        }
        expect([await capped.totalMinted(), await capped.totalSupply()]).to.deep.equal([3n, 2n]);
      });
    });
  });

  describe("mintToWallet", () => {
    it("mints without calling the receiver's hook", async () => {
      const { collection, relay, alice, receiver } = await setUp();
      await receiver.program(Mode.reason);
      await run(
        relay,
        await item(collection, "mintToWallet", alice.address),
        await item(collection, "mintToWallet", receiver.target),
        await item(collection, "mint", alice.address),
      );
      expect(await collection.ownerOf(1n)).to.equal(alice.address);
      expect(await collection.ownerOf(2n)).to.equal(receiver.target);
      expect(await collection.ownerOf(3n)).to.equal(alice.address);
    });

    it("reverts for any caller but the service, and for the service once its right is revoked", async () => {
      const { collection, relay, admin, alice } = await setUp();
      await collection.connect(admin).setMinter(admin.address, true);
      await expect(collection.connect(admin).mintToWallet(alice.address))
        .to.be.revertedWithCustomError(collection, "CollectionUnauthorizedRelay")
        .withArgs(admin.address);
      await collection.connect(admin).setMinter(relay.target, false);
      const call = await item(collection, "mintToWallet", alice.address);
      await expectFailure(relay, call, collection, "CollectionUnauthorizedMinter", relay.target);
    });
  });
});
