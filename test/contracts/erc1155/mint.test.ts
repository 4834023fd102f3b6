import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import { Mode } from "../../support/receiver-mode.ts";
import { ethers, item } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { MAX_AMOUNT, setUp } from "./set-up.ts";

describe("ERC1155Collection", () => {
  describe("create", () => {
    it("mints the first copies of an id", async () => {
      const { collection, relay, does, alice } = await setUp();
      await expect(does("create", alice.address, MaxUint256, 10n, ""))
        .to.emit(collection, "TransferSingle")
        .withArgs(relay.target, ZeroAddress, alice.address, MaxUint256, 10n);
      expect(await collection.exists(MaxUint256)).to.equal(true);
      expect(await collection.totalSupply(MaxUint256)).to.equal(10n);
      expect(await collection.balanceOf(alice.address, MaxUint256)).to.equal(10n);
    });

    it("emits URI if the id has its own URI, and only then", async () => {
      const { collection, does, alice } = await setUp();
      await expect(does("create", alice.address, 1n, 1n, "ipfs://one"))
        .to.emit(collection, "URI")
        .withArgs("ipfs://one", 1n);
      await expect(does("create", alice.address, 2n, 1n, "")).not.to.emit(collection, "URI");
    });

    it("creates an id with zero copies", async () => {
      const { collection, does, alice } = await setUp();
      await does("create", alice.address, 0n, 0n, "");
      expect([await collection.exists(0n), await collection.totalSupply(0n)]).to.deep.equal([true, 0n]);
    });

    it("fails with ERC1155AlreadyCreated for an existing id, even if all copies are burnt", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 5n, 3n, "");
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      await collection.connect(alice).burn(alice.address, 5n, 3n);
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      expect(await collection.exists(5n)).to.equal(true);
    });

    it("fails with ERC1155ExceededMaxSupply above 2^128 - 1 copies", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT, "");
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
      for (const amount of [MAX_AMOUNT + 1n, MaxUint256]) {
        await fails(["create", alice.address, 2n, amount, ""], "ERC1155ExceededMaxSupply", 2n, amount, MAX_AMOUNT);
      }
      expect(await collection.exists(2n)).to.equal(false);
    });

    it("reverts with CollectionUnauthorizedMinter for any other caller", async () => {
      const { collection, stranger } = await setUp();
      await expect(collection.connect(stranger).create(stranger.address, 1n, 1n, ""))
        .to.be.revertedWithCustomError(collection, "CollectionUnauthorizedMinter")
        .withArgs(stranger.address);
    });
  });

  describe("mint", () => {
    it("adds copies", async () => {
      const { collection, relay, does, alice, bob } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      await expect(does("mint", bob.address, 1n, 5n))
        .to.emit(collection, "TransferSingle")
        .withArgs(relay.target, ZeroAddress, bob.address, 1n, 5n);
      expect(await collection.totalSupply(1n)).to.equal(15n);
    });

    it("fails with ERC1155NotCreated for an unknown id", async () => {
      const { fails, alice } = await setUp();
      await fails(["mint", alice.address, 1n, 1n], "ERC1155NotCreated", 1n);
    });

    it("fails with ERC1155ExceededMaxSupply above 2^128 - 1, and mints again after a burn", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT - 1n, "");
      await fails(["mint", alice.address, 1n, 2n], "ERC1155ExceededMaxSupply", 1n, 2n, 1n);
      await fails(["mint", alice.address, 1n, MaxUint256], "ERC1155ExceededMaxSupply", 1n, MaxUint256, 1n);
      await does("mint", alice.address, 1n, 1n);
      await collection.connect(alice).burn(alice.address, 1n, 7n);
      await does("mint", alice.address, 1n, 7n);
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
    });

    it("fails with ERC1155InvalidReceiver for the zero address", async () => {
      const { does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      await fails(["mint", ZeroAddress, 1n, 1n], "ERC1155InvalidReceiver", ZeroAddress);
      await fails(["create", ZeroAddress, 2n, 1n, ""], "ERC1155InvalidReceiver", ZeroAddress);
    });

    describe("given a receiver with code", () => {
      it("calls its hook", async () => {
        const { collection, relay, does, receiver, alice } = await setUp();
        await does("create", receiver.target, 1n, 1n, "");
        expect(await collection.balanceOf(receiver.target, 1n)).to.equal(1n);
        await receiver.program(Mode.reason);
        const call = await item(collection, "mint", receiver.target, 1n, 1n);
        await expectFailure(relay, call, receiver, "Refused", relay.target, ZeroAddress);
        expect(await collection.totalSupply(1n)).to.equal(1n);
        expect(await collection.balanceOf(alice.address, 1n)).to.equal(0n);
      });

      for (const [answer, mode] of [
        ["a wrong value", Mode.lie],
        ["nothing", Mode.empty],
        ["all gas burnt", Mode.burn],
      ] as const) {
        it(`fails with ERC1155InvalidReceiver when its hook answers: ${answer}`, async () => {
          const { does, fails, receiver } = await setUp();
          await does("create", receiver.target, 1n, 1n, "");
          await receiver.program(mode);
          await fails(["mint", receiver.target, 1n, 1n], "ERC1155InvalidReceiver", receiver.target);
        });
      }

      it("fails with ERC1155InvalidReceiver if it has no hooks", async () => {
        const { fails } = await setUp();
        const rejecting = await ethers.deployContract("RejectingReceiver");
        await fails(["create", rejecting.target, 1n, 1n, ""], "ERC1155InvalidReceiver", rejecting.target);
      });

      it("stays consistent when its hook burns copies", async () => {
        const { collection, does, receiver } = await setUp();
        const burn = collection.interface.encodeFunctionData("burn", [receiver.target, 1n, 4n]);
        await receiver.programCall(collection.target, burn);
        await does("create", receiver.target, 1n, 10n, "");
        expect(await collection.totalSupply(1n)).to.equal(6n);
        expect(await collection.balanceOf(receiver.target, 1n)).to.equal(6n);
      });
    });
  });
});
