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
import { emits, expectFailure, reverts } from "../support/expect-failure.ts";
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

  it("emits Locked before Transfer for every token, and is of ERC-5192, unlike an ordinary collection", async () => {
    const { soulbound, ordinary, relay, alice } = await setUp();
    for (const [id, mint] of [
      [1n, "mint"],
      [2n, "mintToWallet"],
      [3n, "mint"],
    ] as const) {
      const receipt = await (await run(relay, await item(soulbound, mint, alice.address))).wait();
      const logs = receipt!.logs.filter((log) => log.address === soulbound.target);
      const events = logs.map((log) => soulbound.interface.parseLog(log)!);
      const told = events.map((event) => [event.name, event.args["tokenId"] as bigint]);
      expect(told).to.deep.equal([
        ["Locked", id],
        ["Transfer", id],
      ]);
      expect(await soulbound.locked(id)).to.equal(true);
    }
    const minted = run(relay, await item(ordinary, "mint", alice.address));
    await expect(minted).not.to.emit(ordinary, "Locked");
    expect([await ordinary.locked(1n), await ordinary.isSoulbound()]).to.deep.equal([false, false]);
    expect(await soulbound.supportsInterface("0xb45a3c0e")).to.equal(true);
    expect(await soulbound.supportsInterface("0x80ac58cd")).to.equal(true);
  });

  it("keeps to the maximum supply, also after it was lowered, and to the dismissal of the service", async () => {
    const { capped, soulbound, relay, admin, alice } = await setUp();
    const mint = async (collection: typeof capped) => run(relay, await item(collection, "mint", alice.address));
    await mint(capped);
    expect(await capped.maxSupply()).to.equal(3n);
    await emits(capped.connect(admin).lowerMaxSupply(2n), capped, "MaxSupplyLowered", 3n, 2n);
    expect(await capped.maxSupply()).to.equal(2n);
    await reverts(capped.connect(admin).lowerMaxSupply(2n), capped, "ERC721InvalidMaxSupply", 2n, 1n, 2n);
    await emits(mint(capped), capped, "Locked", 2n);
    await expectFailure(relay, await item(capped, "mint", alice.address), capped, "ERC721ExceededMaxSupply", 2n);
    expect(await capped.totalMinted()).to.equal(2n);

    expect(await soulbound.maxSupply()).to.equal(0n);
    await soulbound.connect(admin).setMinter(relay.target, false);
    await mint(soulbound);
    expect(await soulbound.totalMinted()).to.equal(0n);
    await soulbound.connect(admin).setMinter(relay.target, true);
    await soulbound.connect(admin).lowerMaxSupply(1n);
    await mint(soulbound);
    await mint(soulbound);
    expect(await soulbound.totalMinted()).to.equal(1n);
  });

  it("refuses transfers and approvals, by the holder and by authorization, but revocations and burns", async () => {
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
      await reverts(attempt, soulbound, SOULBOUND);
    }
    const number = nextNumber();
    const transfer = { from: wallet.address, to: bob.address, tokenId: 2n, amount: 1n, number };
    const { r, vs } = signTransfer(wallet, await soulbound.getAddress(), transfer);
    const call = await item(soulbound, "transferWithAuthorization", wallet.address, bob.address, 2n, r, vs);
    await expectFailure(relay, { ...call, number }, soulbound, SOULBOUND);
    expect(await soulbound.ownerOf(1n)).to.equal(alice.address);
    expect(await soulbound.ownerOf(2n)).to.equal(wallet.address);
    await held.setApprovalForAll(bob.address, false);
    await held.approve(ethers.ZeroAddress, 1n);
    expect(await soulbound.isApprovedForAll(alice.address, bob.address)).to.equal(false);
    await reverts(soulbound.connect(bob).burn(1n), soulbound, "ERC721InsufficientApproval", bob.address, 1n);
    await held.burn(1n);
    expect(await soulbound.totalSupply()).to.equal(1n);
    await reverts(soulbound.locked(1n), soulbound, "ERC721NonexistentToken", 1n);
  });
});

describe("soulbound ERC1155Collection", () => {
  async function deploy() {
    const system = await deploySystem();
    const soulbound = await createErc1155(system, { soulbound: true });
    await run(system.relay, await item(soulbound, "create", system.alice.address, 1n, 10n, ""));
    return { ...system, soulbound };
  }

  it("refuses transfers and approvals, by the holder and by authorization, but revocations, mints and burns", async () => {
    const { soulbound, relay, alice, bob } = await networkHelpers.loadFixture(deploy);
    expect(await soulbound.isSoulbound()).to.equal(true);
    const wallet = newWallet();
    await run(relay, await item(soulbound, "mint", wallet.address, 1n, 5n));
    const held = soulbound.connect(alice);
    for (const attempt of [
      held.safeTransferFrom(alice.address, bob.address, 1n, 1n, "0x"),
      held.safeBatchTransferFrom(alice.address, bob.address, [1n], [1n], "0x"),
      held.setApprovalForAll(bob.address, true),
    ]) {
      await reverts(attempt, soulbound, SOULBOUND);
    }
    const number = nextNumber();
    const transfer = { from: wallet.address, to: bob.address, tokenId: 1n, amount: 2n, number };
    const { r, vs } = signTransfer(wallet, await soulbound.getAddress(), transfer);
    const call = await item(soulbound, "transferWithAuthorization", wallet.address, bob.address, 1n, 2n, r, vs);
    await expectFailure(relay, { ...call, number }, soulbound, SOULBOUND);
    expect(await soulbound.balanceOf(alice.address, 1n)).to.equal(10n);
    await held.setApprovalForAll(bob.address, false);
    await held.burn(alice.address, 1n, 3n);
    await held.burnBatch(alice.address, [1n], [2n]);
    expect(await soulbound.totalSupply(1n)).to.equal(10n);
  });
});
