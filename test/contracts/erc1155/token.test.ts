import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import { HOSTED_BASE_URI, item, run } from "../support/deploy.ts";
import { CHAIN_ID } from "../support/sign.ts";
import { setUp } from "./set-up.ts";

describe("ERC1155Collection", () => {
  describe("burn and burnBatch", () => {
    it("subtract copies from the supply, for their holder and the holder's approved operators", async () => {
      const { collection, does, alice, bob } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      await does("create", alice.address, 2n, 10n, "");
      await collection.connect(alice).burn(alice.address, 1n, 1n);
      await collection.connect(alice).setApprovalForAll(bob.address, true);
      await collection.connect(bob).burn(alice.address, 1n, 2n);
      await expect(collection.connect(bob).burnBatch(alice.address, [1n, 2n, 1n], [1n, 5n, 2n]))
        .to.emit(collection, "TransferBatch")
        .withArgs(bob.address, alice.address, ZeroAddress, [1n, 2n, 1n], [1n, 5n, 2n]);
      expect([await collection.totalSupply(1n), await collection.totalSupply(2n)]).to.deep.equal([4n, 5n]);
    });

    it("revert with ERC1155MissingApprovalForAll for others, also the service", async () => {
      const { collection, does, fails, relay, alice, stranger } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      for (const attempt of [
        () => collection.connect(stranger).burn(alice.address, 1n, 1n),
        () => collection.connect(stranger).burnBatch(alice.address, [1n], [1n]),
      ]) {
        await expect(attempt())
          .to.be.revertedWithCustomError(collection, "ERC1155MissingApprovalForAll")
          .withArgs(stranger.address, alice.address);
      }
      await fails(["burn", alice.address, 1n, 1n], "ERC1155MissingApprovalForAll", relay.target, alice.address);
    });

    it("revert with ERC1155InsufficientBalance for more copies than the holder has", async () => {
      const { collection, does, alice } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      await expect(collection.connect(alice).burn(alice.address, 1n, 11n))
        .to.be.revertedWithCustomError(collection, "ERC1155InsufficientBalance")
        .withArgs(alice.address, 10n, 11n, 1n);
      await expect(collection.connect(alice).burn(alice.address, 1n, MaxUint256))
        .to.be.revertedWithCustomError(collection, "ERC1155InsufficientBalance")
        .withArgs(alice.address, 10n, MaxUint256, 1n);
    });
  });

  describe("safeTransferFrom and safeBatchTransferFrom", () => {
    it("cannot be made by the relay: it is refused as an operator, and can be revoked", async () => {
      const { collection, relay, alice } = await setUp();
      await expect(collection.connect(alice).setApprovalForAll(relay.target, true))
        .to.be.revertedWithCustomError(collection, "ERC1155InvalidOperator")
        .withArgs(relay.target);
      await collection.connect(alice).setApprovalForAll(relay.target, false);
      expect(await collection.isApprovedForAll(alice.address, relay.target)).to.equal(false);
    });

    it("move copies without changing the supply", async () => {
      const { collection, does, alice, bob } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      await collection.connect(alice).safeTransferFrom(alice.address, bob.address, 1n, 4n, "0x");
      await collection.connect(alice).safeBatchTransferFrom(alice.address, bob.address, [1n, 1n], [1n, 2n], "0x");
      expect(await collection.balanceOfBatch([alice.address, bob.address], [1n, 1n])).to.deep.equal([3n, 7n]);
      expect(await collection.totalSupply(1n)).to.equal(10n);
    });
  });

  describe("uri and setTokenURI", () => {
    it("follow the template unless the id has its own URI", async () => {
      const { collection, relay, selfHosted, admin, does, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      await does("create", alice.address, 2n, 1n, "ipfs://two");
      const suffix = `${CHAIN_ID}/${await collection.getAddress()}/{id}`;
      expect(await collection.uri(1n)).to.equal(`${HOSTED_BASE_URI}${suffix}`);
      expect(await collection.uri(2n)).to.equal("ipfs://two");
      expect(await selfHosted.uri(1n)).to.equal("https://app.example/{id}.json");
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await collection.uri(1n)).to.equal(`https://moved.example/${suffix}`);
      await collection.connect(admin).setBaseURI("ipfs://all/{id}");
      expect(await collection.uri(1n)).to.equal("ipfs://all/{id}");
      expect(await collection.uri(2n)).to.equal("ipfs://two");
    });

    it("give an id its own URI and remove it again", async () => {
      const { collection, admin, does, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      const template = await collection.uri(1n);
      await expect(collection.connect(admin).setTokenURI(1n, "ipfs://one"))
        .to.emit(collection, "URI")
        .withArgs("ipfs://one", 1n);
      expect(await collection.uri(1n)).to.equal("ipfs://one");
      await expect(collection.connect(admin).setTokenURI(1n, "")).to.emit(collection, "URI").withArgs(template, 1n);
      expect(await collection.uri(1n)).to.equal(template);
    });

    it("revert for other callers, unknown ids, and after the freeze", async () => {
      const { collection, admin, does, alice, stranger } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      await expect(collection.connect(stranger).setTokenURI(1n, "x"))
        .to.be.revertedWithCustomError(collection, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
      await expect(collection.connect(admin).setTokenURI(2n, "x"))
        .to.be.revertedWithCustomError(collection, "ERC1155NotCreated")
        .withArgs(2n);
      const before = await collection.uri(1n);
      await collection.connect(admin).freezeMetadata();
      await expect(collection.connect(admin).setTokenURI(1n, "x"))
        .to.be.revertedWithCustomError(collection, "CollectionMetadataFrozen")
        .withArgs();
      expect(await collection.uri(1n)).to.equal(before);
    });

    it("let a new id have its own URI after the freeze and change no other URI", async () => {
      const { collection, relay, admin, does, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      const before = await collection.uri(1n);
      await collection.connect(admin).freezeMetadata();
      await does("create", alice.address, 2n, 1n, "ipfs://two");
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect([await collection.uri(1n), await collection.uri(2n)]).to.deep.equal([before, "ipfs://two"]);
    });
  });

  describe("name and symbol", () => {
    it("return the values of the creation", async () => {
      const { collection } = await setUp();
      expect([await collection.name(), await collection.symbol()]).to.deep.equal(["Harbour Lights", "HARB"]);
    });
  });

  describe("supportsInterface", () => {
    for (const [name, id, supported] of [
      ["ERC-165", "0x01ffc9a7", true],
      ["ERC-1155", "0xd9b67a26", true],
      ["ERC-1155 metadata", "0x0e89341c", true],
      ["ERC-173, whose transferOwnership(0) renounces", "0x7f5828d0", false],
      ["ERC-5192", "0xb45a3c0e", false],
      ["ERC-2981", "0x2a55205a", true],
      ["ERC-4906, which is for ERC721 only", "0x49064906", false],
      ["ERC-7572", "0xe8a3d485", true],
      ["ERC-721", "0x80ac58cd", false],
      ["the invalid id 0xffffffff", "0xffffffff", false],
    ] as const) {
      it(`returns ${supported} for ${name}`, async () => {
        const { collection } = await setUp();
        expect(await collection.supportsInterface(id)).to.equal(supported);
      });
    }
  });

  describe("given the implementation contract", () => {
    it("has no owner and cannot mint", async () => {
      const { implementation, relay, alice } = await setUp();
      expect(await implementation.owner()).to.equal(ZeroAddress);
      expect(await implementation.isMinter(relay.target)).to.equal(false);
      await expect(run(relay, await item(implementation, "create", alice.address, 1n, 1n, ""))).to.emit(
        relay,
        "CallFailed",
      );
      expect(await implementation.exists(1n)).to.equal(false);
    });
  });
});
