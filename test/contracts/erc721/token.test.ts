import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { createErc721, describeStorages, ethers, HOSTED_BASE_URI, item, run } from "../support/deploy.ts";
import { CHAIN_ID } from "../support/sign.ts";
import { setUpWith } from "./set-up.ts";

describeStorages("ERC721Collection", (storage) => {
  const setUp = () => setUpWith(storage);

  describe("approvals", () => {
    it("are cleared by a transfer, also after transfers before the first approval of the collection", async () => {
      const { collection, alice, bob, carol, mintTo } = await setUp();
      await mintTo(alice.address, alice.address);
      await collection.connect(alice).transferFrom(alice.address, bob.address, 1n);
      await expect(collection.connect(bob).approve(carol.address, 1n))
        .to.emit(collection, "Approval")
        .withArgs(bob.address, carol.address, 1n);
      expect(await collection.getApproved(1n)).to.equal(carol.address);
      await collection.connect(carol).transferFrom(bob.address, alice.address, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
      await expect(collection.connect(carol).transferFrom(alice.address, carol.address, 1n))
        .to.be.revertedWithCustomError(collection, "ERC721InsufficientApproval")
        .withArgs(carol.address, 1n);
    });

    it("can be withdrawn, even if there was none", async () => {
      const { collection, alice, bob, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(alice).approve(ZeroAddress, 1n))
        .to.emit(collection, "Approval")
        .withArgs(alice.address, ZeroAddress, 1n);
      await collection.connect(alice).approve(bob.address, 1n);
      await collection.connect(alice).approve(ZeroAddress, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
    });

    it("revert with ERC721InvalidApprover for an account that does not hold the token", async () => {
      const { collection, alice, bob, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(bob).approve(bob.address, 1n))
        .to.be.revertedWithCustomError(collection, "ERC721InvalidApprover")
        .withArgs(bob.address);
    });

    it("revert with ERC721InvalidOperator for the relay, because every operator could move the tokens", async () => {
      const { collection, relay, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      for (const attempt of [
        collection.connect(alice).approve(relay.target, 1n),
        collection.connect(alice).setApprovalForAll(relay.target, true),
      ]) {
        await expect(attempt).to.be.revertedWithCustomError(collection, "ERC721InvalidOperator").withArgs(relay.target);
      }
      await collection.connect(alice).setApprovalForAll(relay.target, false);
      expect(await collection.isApprovedForAll(alice.address, relay.target)).to.equal(false);
    });

    it("are checked whenever _approve gets the account to check, even if no token was ever approved", async () => {
      const system = await setUp();
      const { relay, factory, alice, bob } = system;
      const harness = await ethers.deployContract("ApprovalHarness", [relay.target]);
      const harnessFactory = await ethers.deployContract("CollectionFactory", [
        relay.target,
        harness.target,
        await factory.erc1155Implementation(),
      ]);
      const created = await createErc721({ ...system, factory: harnessFactory });
      const collection = await ethers.getContractAt("ApprovalHarness", created.target);
      await run(relay, await item(created, "mint", alice.address));
      await expect(collection.approveAs(ZeroAddress, 1n, bob.address, false))
        .to.be.revertedWithCustomError(collection, "ERC721InvalidApprover")
        .withArgs(bob.address);
      await collection.approveAs(ZeroAddress, 1n, alice.address, false);
      await collection.approveAs(ZeroAddress, 1n, ZeroAddress, false);
    });
  });

  describe("tokenURI", () => {
    it("starts with the hosted base, the base of the creation, or the base that the owner set", async () => {
      const { collection, selfHosted, relay, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await run(relay, await item(selfHosted, "mint", alice.address));
      const suffix = `${CHAIN_ID}/${await collection.getAddress()}/1`;
      expect(await collection.tokenURI(1n)).to.equal(`${HOSTED_BASE_URI}${suffix}`);
      expect(await selfHosted.tokenURI(1n)).to.equal("https://app.example/tokens/1");
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await collection.tokenURI(1n)).to.equal(`https://moved.example/${suffix}`);
      await collection.connect(admin).setBaseURI("ipfs://base/");
      expect(await collection.tokenURI(1n)).to.equal("ipfs://base/1");
      await collection.connect(admin).setBaseURI("");
      expect(await collection.tokenURI(1n)).to.equal("");
    });

    it("does not change after the freeze", async () => {
      const { collection, relay, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      const before = await collection.tokenURI(1n);
      await collection.connect(admin).freezeMetadata();
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      await mintTo(alice.address);
      expect(await collection.tokenURI(1n)).to.equal(before);
      expect(await collection.tokenURI(2n)).to.equal(before.replace(/1$/u, "2"));
    });

    it("reverts with ERC721NonexistentToken for an unknown id", async () => {
      const { collection } = await setUp();
      await expect(collection.tokenURI(1n))
        .to.be.revertedWithCustomError(collection, "ERC721NonexistentToken")
        .withArgs(1n);
    });
  });

  describe("supportsInterface", () => {
    for (const [name, id, supported] of [
      ["ERC-165", "0x01ffc9a7", true],
      ["ERC-721", "0x80ac58cd", true],
      ["ERC-721 metadata", "0x5b5e139f", true],
      ["ERC-173, whose transferOwnership(0) renounces", "0x7f5828d0", false],
      ["ERC-5192", "0xb45a3c0e", false],
      ["ERC-2981", "0x2a55205a", true],
      ["ERC-4906", "0x49064906", true],
      ["ERC-7572", "0xe8a3d485", true],
      ["ERC-1155", "0xd9b67a26", false],
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
      const { implementation, relay, admin, alice } = await setUp();
      expect(await implementation.owner()).to.equal(ZeroAddress);
      expect(await implementation.isMinter(relay.target)).to.equal(false);
      await expect(implementation.connect(admin).setMinter(admin.address, true))
        .to.be.revertedWithCustomError(implementation, "OwnableUnauthorizedAccount")
        .withArgs(admin.address);
      await expect(run(relay, await item(implementation, "mint", alice.address))).to.emit(relay, "CallFailed");
      await expect(run(relay, await item(implementation, "freezeMetadata"))).to.emit(relay, "CallFailed");
      expect(await implementation.totalMinted()).to.equal(0n);
    });
  });
});
