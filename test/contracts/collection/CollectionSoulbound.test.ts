import { expect } from "chai";

import {
  createErc1155,
  createErc721,
  deploySystem,
  deploySystemWith,
  describeStorages,
  ethers,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { newWallet, signTransfer } from "../support/sign.ts";

const SOULBOUND = "CollectionSoulbound";

describeStorages("soulbound ERC721Collection", (storage) => {
  async function deploy() {
    const system = await deploySystemWith(storage);
    const soulbound = await createErc721(system, { soulbound: true });
    const capped = await createErc721(system, { soulbound: true, maxSupply: 3n });
    const ordinary = await createErc721(system);
    return { ...system, soulbound, capped, ordinary };
  }
  const setUp = () => networkHelpers.loadFixture(deploy);

  describe("mint and mintToWallet", () => {
    it("emit Locked before Transfer, for every token", async () => {
      const { soulbound, relay, alice } = await setUp();
      for (const [id, mint] of [
        [1n, "mint"],
        [2n, "mintToWallet"],
        [3n, "mint"],
      ] as const) {
        const receipt = await (await run(relay, await item(soulbound, mint, alice.address))).wait();
        const logs = receipt!.logs.filter((log) => log.address === soulbound.target);
        const events = logs.map((log) => soulbound.interface.parseLog(log)!);
        expect(events.map((event) => event.name)).to.deep.equal(["Locked", "Transfer"]);
        expect(events[0]!.args["tokenId"]).to.equal(id);
        expect(events[1]!.args["tokenId"]).to.equal(id);
        expect(await soulbound.locked(id)).to.equal(true);
      }
      expect(await soulbound.totalMinted()).to.equal(3n);
    });

    it("emit no Locked in an ordinary collection", async () => {
      const { ordinary, relay, alice } = await setUp();
      for (let i = 0; i < 2; i++) {
        const minted = run(relay, await item(ordinary, "mint", alice.address));
        await expect(minted).not.to.emit(ordinary, "Locked");
      }
      expect(await ordinary.locked(2n)).to.equal(false);
      expect(await ordinary.isSoulbound()).to.equal(false);
    });

    it("keep to the maximum supply, also after it was lowered", async () => {
      const { capped, soulbound, relay, admin, alice } = await setUp();
      const mint = async (collection: typeof capped) => run(relay, await item(collection, "mint", alice.address));
      await mint(capped);
      expect(await capped.maxSupply()).to.equal(3n);
      await expect(capped.connect(admin).lowerMaxSupply(2n)).to.emit(capped, "MaxSupplyLowered").withArgs(3n, 2n);
      expect(await capped.maxSupply()).to.equal(2n);
      await expect(capped.connect(admin).lowerMaxSupply(2n))
        .to.be.revertedWithCustomError(capped, "ERC721InvalidMaxSupply")
        .withArgs(2n, 1n, 2n);
      await expect(mint(capped)).to.emit(capped, "Locked").withArgs(2n);
      await expectFailure(relay, await item(capped, "mint", alice.address), capped, "ERC721ExceededMaxSupply", 2n);
      expect(await capped.totalMinted()).to.equal(2n);

      expect(await soulbound.maxSupply()).to.equal(0n);
      await soulbound.connect(admin).lowerMaxSupply(1n);
      await mint(soulbound);
      await mint(soulbound);
      expect(await soulbound.totalMinted()).to.equal(1n);
    });

    it("obey the dismissal of the service", async () => {
      const { soulbound, relay, admin, alice } = await setUp();
      await soulbound.connect(admin).setMinter(relay.target, false);
      await run(relay, await item(soulbound, "mint", alice.address));
      expect(await soulbound.totalMinted()).to.equal(0n);
      await soulbound.connect(admin).setMinter(relay.target, true);
      await run(relay, await item(soulbound, "mint", alice.address));
      expect(await soulbound.totalMinted()).to.equal(1n);
    });
  });

  describe("transfers and approvals", () => {
    it("revert with CollectionSoulbound, by the holder and by authorization", async () => {
      const { soulbound, relay, alice, bob } = await setUp();
      const wallet = newWallet();
      for (const to of [alice, wallet]) await run(relay, await item(soulbound, "mint", to.address));
      const held = soulbound.connect(alice);
      for (const attempt of [
        held.transferFrom(alice.address, bob.address, 1n),
        held["safeTransferFrom(address,address,uint256)"](alice.address, bob.address, 1n),
        held["safeTransferFrom(address,address,uint256,bytes)"](alice.address, bob.address, 1n, "0x"),
        held.approve(bob.address, 1n),
        held.setApprovalForAll(bob.address, true),
      ]) {
        await expect(attempt).to.be.revertedWithCustomError(soulbound, SOULBOUND).withArgs();
      }
      const number = nextNumber();
      const transfer = { from: wallet.address, to: bob.address, tokenId: 2n, amount: 1n, number };
      const { r, vs } = signTransfer(wallet, await soulbound.getAddress(), transfer);
      const call = await item(soulbound, "transferWithAuthorization", wallet.address, bob.address, 2n, r, vs);
      await expectFailure(relay, { ...call, number }, soulbound, SOULBOUND);
      expect(await soulbound.ownerOf(1n)).to.equal(alice.address);
      expect(await soulbound.ownerOf(2n)).to.equal(wallet.address);
    });

    it("can be revoked as usual", async () => {
      const { soulbound, relay, alice, bob } = await setUp();
      await run(relay, await item(soulbound, "mint", alice.address));
      await soulbound.connect(alice).setApprovalForAll(bob.address, false);
      await soulbound.connect(alice).approve(ethers.ZeroAddress, 1n);
      expect(await soulbound.isApprovedForAll(alice.address, bob.address)).to.equal(false);
    });
  });

  describe("burn", () => {
    it("is possible for the holder, and for nobody else", async () => {
      const { soulbound, relay, alice, bob } = await setUp();
      await run(relay, await item(soulbound, "mint", alice.address));
      await expect(soulbound.connect(bob).burn(1n))
        .to.be.revertedWithCustomError(soulbound, "ERC721InsufficientApproval")
        .withArgs(bob.address, 1n);
      await soulbound.connect(alice).burn(1n);
      expect(await soulbound.totalSupply()).to.equal(0n);
      await expect(soulbound.locked(1n))
        .to.be.revertedWithCustomError(soulbound, "ERC721NonexistentToken")
        .withArgs(1n);
    });
  });

  describe("supportsInterface", () => {
    it("returns true for ERC-5192, and false in an ordinary collection", async () => {
      const { soulbound, ordinary } = await setUp();
      expect(await soulbound.supportsInterface("0xb45a3c0e")).to.equal(true);
      expect(await ordinary.supportsInterface("0xb45a3c0e")).to.equal(false);
      expect(await soulbound.supportsInterface("0x80ac58cd")).to.equal(true);
    });
  });
});

describe("soulbound ERC1155Collection", () => {
  async function deploy() {
    const system = await deploySystem();
    const soulbound = await createErc1155(system, { soulbound: true });
    await run(system.relay, await item(soulbound, "create", system.alice.address, 1n, 10n, ""));
    return { ...system, soulbound };
  }
  const setUp = () => networkHelpers.loadFixture(deploy);

  it("is soulbound", async () => {
    const { soulbound } = await setUp();
    expect(await soulbound.isSoulbound()).to.equal(true);
    expect(await soulbound.supportsInterface("0xb45a3c0e")).to.equal(false);
  });

  describe("transfers and approvals", () => {
    it("revert with CollectionSoulbound, by the holder and by authorization", async () => {
      const { soulbound, relay, alice, bob } = await setUp();
      const wallet = newWallet();
      await run(relay, await item(soulbound, "mint", wallet.address, 1n, 5n));
      const held = soulbound.connect(alice);
      for (const attempt of [
        held.safeTransferFrom(alice.address, bob.address, 1n, 1n, "0x"),
        held.safeBatchTransferFrom(alice.address, bob.address, [1n], [1n], "0x"),
        held.setApprovalForAll(bob.address, true),
      ]) {
        await expect(attempt).to.be.revertedWithCustomError(soulbound, SOULBOUND).withArgs();
      }
      const number = nextNumber();
      const transfer = { from: wallet.address, to: bob.address, tokenId: 1n, amount: 2n, number };
      const { r, vs } = signTransfer(wallet, await soulbound.getAddress(), transfer);
      const call = await item(soulbound, "transferWithAuthorization", wallet.address, bob.address, 1n, 2n, r, vs);
      await expectFailure(relay, { ...call, number }, soulbound, SOULBOUND);
      expect(await soulbound.balanceOf(alice.address, 1n)).to.equal(10n);
      await held.setApprovalForAll(bob.address, false);
    });
  });

  describe("mint, burn and burnBatch", () => {
    it("are possible", async () => {
      const { soulbound, relay, alice } = await setUp();
      await run(relay, await item(soulbound, "mint", alice.address, 1n, 5n));
      await soulbound.connect(alice).burn(alice.address, 1n, 3n);
      await soulbound.connect(alice).burnBatch(alice.address, [1n], [2n]);
      expect(await soulbound.totalSupply(1n)).to.equal(10n);
    });
  });
});
