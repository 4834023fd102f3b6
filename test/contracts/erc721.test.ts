import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { Mode } from "../support/receiver-mode.ts";
import {
  createErc721,
  deploySystemWith,
  describeStorages,
  ethers,
  fixtures,
  HOSTED_BASE_URI,
  item,
  networkHelpers,
  nextNumber,
  run,
  type Storage,
} from "./support/deploy.ts";
import { emits, expectFailure, reverts } from "./support/expect-failure.ts";
import { CHAIN_ID } from "./support/sign.ts";

/** Three collections: hosted, hosted with a maximum supply of 3, self-hosted. */
async function deployCollections(storage: Storage) {
  const system = await deploySystemWith(storage);
  const collection = await createErc721(system);
  const capped = await createErc721(system, { maxSupply: 3n });
  const selfHosted = await createErc721(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, capped, selfHosted, receiver };
}

const FIXTURES = fixtures(deployCollections);

describeStorages("ERC721Collection", (storage) => {
  /** `mintTo` mints in the first collection, `counts` are its tokens that were minted, and those that are not burnt. */
  async function setUp() {
    const system = await networkHelpers.loadFixture(FIXTURES[storage]);
    const { relay, collection } = system;
    const mintTo = async (...receivers: string[]) =>
      run(relay, ...(await Promise.all(receivers.map((to) => item(collection, "mint", to)))));
    const counts = async (of = collection) => [await of.totalMinted(), await of.totalSupply()];
    return { ...system, mintTo, counts };
  }

  describe("mint and mintToWallet", () => {
    it("assign the ids 1, 2, 3, without a gap after a failed mint", async () => {
      const { collection, relay, admin, receiver, mintTo, alice, bob } = await setUp();
      await receiver.program(Mode.reason);
      const tx = mintTo(alice.address, await receiver.getAddress(), bob.address, alice.address);
      await expect(tx).to.emit(relay, "CallFailed");
      for (const [id, to] of [alice, bob, alice].entries())
        await emits(tx, collection, "Transfer", ZeroAddress, to.address, id + 1);
      expect(await collection.totalMinted()).to.equal(3n);
      expect(await collection.balanceOf(alice.address)).to.equal(2n);
      await collection.connect(admin).setMinter(admin.address, true);
      expect(await collection.connect(admin).mint.staticCall(alice.address)).to.equal(4n);
    });

    it("call the hook of a receiver with code, with the relay as operator, but not that of a wallet", async () => {
      const { collection, relay, receiver, mintTo } = await setUp();
      await mintTo(await receiver.getAddress());
      expect(await collection.ownerOf(1n)).to.equal(receiver.target);
      await receiver.program(Mode.reason);
      const call = await item(collection, "mint", receiver.target);
      await expectFailure(relay, call, receiver, "Refused", relay.target, ZeroAddress);
      await run(relay, await item(collection, "mintToWallet", receiver.target));
      expect(await collection.ownerOf(2n)).to.equal(receiver.target);
    });

    it("fail for a receiver that does not accept, within the gas limit of the call", async () => {
      const { collection, relay, receiver, counts } = await setUp();
      const invalid = (of: unknown) => collection.interface.encodeErrorResult("ERC721InvalidReceiver", [of]);
      const tiny = ethers.Wallet.createRandom().address;
      await networkHelpers.setCode(tiny, "0x00");
      const rejecting = await ethers.deployContract("RejectingReceiver");
      for (const [to, mode, reason, gasLimit] of [
        [receiver.target, Mode.lie, invalid(receiver.target)],
        [receiver.target, Mode.empty, invalid(receiver.target)],
        [receiver.target, Mode.burn, invalid(receiver.target)],
        [receiver.target, Mode.revertMegabyte, (bytes: string) => bytes.length === 2 + 2 * 256, 8_000_000n],
        [receiver.target, Mode.returnMegabyte, (bytes: string) => bytes.startsWith("0x")],
        [tiny, Mode.accept, "0x"],
        [rejecting.target, Mode.accept, invalid(rejecting.target)],
      ] as const) {
        await receiver.program(mode);
        const call = {
          ...(await item(collection, "mint", to)),
          number: nextNumber(),
          gasLimit: gasLimit ?? 1_000_000n,
        };
        await emits(run(relay, call), relay, "CallFailed", call.number, reason);
      }
      expect(await counts()).to.deep.equal([0n, 0n]);
    });

    it("stay consistent when the hook transfers or burns the token", async () => {
      const { collection, receiver, alice, bob, mintTo, counts } = await setUp();
      const move = collection.interface.encodeFunctionData("transferFrom", [receiver.target, bob.address, 1n]);
      await receiver.programCall(collection.target, move);
      await mintTo(await receiver.getAddress());
      expect(await collection.ownerOf(1n)).to.equal(bob.address);
      expect(await collection.balanceOf(receiver.target)).to.equal(0n);
      await receiver.programCall(collection.target, collection.interface.encodeFunctionData("burn", [2n]));
      await mintTo(await receiver.getAddress(), alice.address);
      expect(await collection.ownerOf(3n)).to.equal(alice.address);
      expect(await counts()).to.deep.equal([3n, 2n]);
    });

    it("fail for the zero address, and when the supply is exhausted, also after a burn", async () => {
      const { collection, capped, relay, alice, counts } = await setUp();
      const mint = await item(capped, "mint", alice.address);
      await run(relay, mint, mint, mint);
      await capped.connect(alice).burn(2n);
      for (const fragment of ["mint", "mintToWallet"]) {
        const toNobody = await item(collection, fragment, ZeroAddress);
        await expectFailure(relay, toNobody, collection, "ERC721InvalidReceiver", ZeroAddress);
        const beyond = await item(capped, fragment, alice.address);
        await expectFailure(relay, beyond, capped, "ERC721ExceededMaxSupply", 3n);
      }
      expect(await counts(capped)).to.deep.equal([3n, 2n]);
    });

    it("to a wallet are for the service alone, while it may mint", async () => {
      const { collection, relay, admin, alice } = await setUp();
      const asAdmin = collection.connect(admin);
      await asAdmin.setMinter(admin.address, true);
      const attempt = asAdmin.mintToWallet(alice.address);
      await reverts(attempt, collection, "CollectionUnauthorizedRelay", admin.address);
      await asAdmin.setMinter(relay.target, false);
      const call = await item(collection, "mintToWallet", alice.address);
      await expectFailure(relay, call, collection, "CollectionUnauthorizedMinter", relay.target);
    });
  });

  describe("maxSupply and lowerMaxSupply", () => {
    it("lower the maximum down to the number of minted tokens, for the owner alone", async () => {
      const { collection, capped, relay, admin, alice, stranger } = await setUp();
      const unauthorized = capped.connect(stranger).lowerMaxSupply(1n);
      await reverts(unauthorized, capped, "OwnableUnauthorizedAccount", stranger.address);
      expect([await collection.maxSupply(), await capped.maxSupply()]).to.deep.equal([0n, 3n]);
      await run(relay, await item(capped, "mint", alice.address));
      for (const to of [2n, 1n]) {
        await emits(capped.connect(admin).lowerMaxSupply(to), capped, "MaxSupplyLowered", to + 1n, to);
        expect(await capped.maxSupply()).to.equal(to);
      }
      expect(await capped.totalMinted()).to.equal(1n);
      await expectFailure(relay, await item(capped, "mint", alice.address), capped, "ERC721ExceededMaxSupply", 1n);
    });

    it("limit an unlimited collection before its first mint", async () => {
      const { collection, admin, alice, mintTo } = await setUp();
      await emits(collection.connect(admin).lowerMaxSupply(2n), collection, "MaxSupplyLowered", 0n, 2n);
      await mintTo(alice.address, alice.address, alice.address);
      expect(await collection.totalMinted()).to.equal(2n);
    });

    it("refuse a maximum that is zero, not lower, or below the minted tokens", async () => {
      const { collection, capped, relay, admin, alice } = await setUp();
      const mint = await item(capped, "mint", alice.address);
      await run(relay, mint, mint);
      for (const [of, minted, max, values] of [
        [capped, 2n, 3n, [0n, 1n, 3n, 4n, 2n ** 64n - 1n, 2n ** 64n + 2n, 2n ** 256n - 1n]],
        [collection, 0n, 0n, [0n, 2n ** 64n - 1n, 2n ** 64n]],
      ] as const)
        for (const value of values)
          await reverts(of.connect(admin).lowerMaxSupply(value), of, "ERC721InvalidMaxSupply", value, minted, max);
    });
  });

  it("burn: is for the holder and those that the holder approved, and never frees an id", async () => {
    const { collection, relay, admin, alice, bob, carol, mintTo, counts } = await setUp();
    await mintTo(alice.address, alice.address, alice.address);
    const denied = "ERC721InsufficientApproval";
    await reverts(collection.connect(admin).burn(1n), collection, denied, admin.address, 1n);
    await expectFailure(relay, await item(collection, "burn", 1n), collection, denied, relay.target, 1n);
    await collection.connect(alice).approve(bob.address, 2n);
    await collection.connect(alice).setApprovalForAll(carol.address, true);
    for (const [index, caller] of [alice, bob, carol].entries())
      await emits(
        collection.connect(caller).burn(index + 1),
        collection,
        "Transfer",
        alice.address,
        ZeroAddress,
        index + 1,
      );
    expect(await counts()).to.deep.equal([3n, 0n]);
    await mintTo(alice.address);
    expect(await collection.ownerOf(4n)).to.equal(alice.address);
    await reverts(collection.ownerOf(1n), collection, "ERC721NonexistentToken", 1n);
    await reverts(collection.connect(alice).burn(1n), collection, "ERC721NonexistentToken", 1n);
  });

  describe("approvals", () => {
    it("are the holder's, are cleared by a transfer, and can be withdrawn, even if there was none", async () => {
      const { collection, alice, bob, carol, mintTo } = await setUp();
      await mintTo(alice.address, alice.address);
      await reverts(collection.connect(bob).approve(bob.address, 1n), collection, "ERC721InvalidApprover", bob.address);
      const withdrawn = collection.connect(alice).approve(ZeroAddress, 1n);
      await emits(withdrawn, collection, "Approval", alice.address, ZeroAddress, 1n);
      await collection.connect(alice).transferFrom(alice.address, bob.address, 1n);
      const approved = collection.connect(bob).approve(carol.address, 1n);
      await emits(approved, collection, "Approval", bob.address, carol.address, 1n);
      expect(await collection.getApproved(1n)).to.equal(carol.address);
      const asCarol = collection.connect(carol);
      await asCarol.transferFrom(bob.address, alice.address, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
      const again = asCarol.transferFrom(alice.address, carol.address, 1n);
      await reverts(again, collection, "ERC721InsufficientApproval", carol.address, 1n);
      for (const account of [bob.address, ZeroAddress]) await collection.connect(alice).approve(account, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
    });

    it("are refused for the relay, because every operator could move the tokens", async () => {
      const { collection, relay, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      const held = collection.connect(alice);
      for (const attempt of [held.approve(relay.target, 1n), held.setApprovalForAll(relay.target, true)])
        await reverts(attempt, collection, "ERC721InvalidOperator", relay.target);
      await held.setApprovalForAll(relay.target, false);
      expect(await collection.isApprovedForAll(alice.address, relay.target)).to.equal(false);
    });

    it("are checked whenever _approve gets the account to check, even if no token was ever approved", async () => {
      const system = await setUp();
      const { relay, factory, alice, bob } = system;
      const harness = await ethers.deployContract("ApprovalHarness", [relay.target]);
      const implementations = [harness.target, await factory.erc1155Implementation()] as const;
      const harnessFactory = await ethers.deployContract("CollectionFactory", [relay.target, ...implementations]);
      const created = await createErc721({ ...system, factory: harnessFactory });
      const collection = await ethers.getContractAt("ApprovalHarness", created.target);
      await run(relay, await item(created, "mint", alice.address));
      const attempt = collection.approveAs(ZeroAddress, 1n, bob.address, false);
      await reverts(attempt, collection, "ERC721InvalidApprover", bob.address);
      await collection.approveAs(ZeroAddress, 1n, alice.address, false);
      await collection.approveAs(ZeroAddress, 1n, ZeroAddress, false);
    });
  });

  it("tokenURI: starts with the hosted base, the base of the creation, or the base that the owner set", async () => {
    const { collection, selfHosted, relay, admin, alice, mintTo } = await setUp();
    await reverts(collection.tokenURI(1n), collection, "ERC721NonexistentToken", 1n);
    await mintTo(alice.address);
    await run(relay, await item(selfHosted, "mint", alice.address));
    const suffix = `${CHAIN_ID}/${await collection.getAddress()}/1`;
    expect(await collection.tokenURI(1n)).to.equal(`${HOSTED_BASE_URI}${suffix}`);
    expect(await selfHosted.tokenURI(1n)).to.equal("https://app.example/tokens/1");
    await relay.connect(admin).setHostedBaseURI("https://moved.example/");
    expect(await collection.tokenURI(1n)).to.equal(`https://moved.example/${suffix}`);
    for (const [base, uri] of [
      ["ipfs://base/", "ipfs://base/1"],
      ["", ""],
    ] as const) {
      await collection.connect(admin).setBaseURI(base);
      expect(await collection.tokenURI(1n)).to.equal(uri);
    }
  });

  it("tokenURI: does not change after the freeze", async () => {
    const { collection, relay, admin, alice, mintTo } = await setUp();
    await mintTo(alice.address);
    const before = await collection.tokenURI(1n);
    await collection.connect(admin).freezeMetadata();
    await relay.connect(admin).setHostedBaseURI("https://moved.example/");
    await mintTo(alice.address);
    expect(await collection.tokenURI(1n)).to.equal(before);
    expect(await collection.tokenURI(2n)).to.equal(before.replace(/1$/u, "2"));
  });

  it("supportsInterface: names the standards of an ERC721 collection", async () => {
    const { collection } = await setUp();
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
    ] as const)
      expect(await collection.supportsInterface(id), name).to.equal(supported);
  });

  it("the implementation contract: has no owner and cannot mint", async () => {
    const { factory, relay, admin, alice } = await setUp();
    const implementation = await ethers.getContractAt("ERC721Collection", await factory.erc721Implementation());
    expect(await implementation.owner()).to.equal(ZeroAddress);
    expect(await implementation.isMinter(relay.target)).to.equal(false);
    const attempt = implementation.connect(admin).setMinter(admin.address, true);
    await reverts(attempt, implementation, "OwnableUnauthorizedAccount", admin.address);
    for (const call of [
      await item(implementation, "mint", alice.address),
      await item(implementation, "freezeMetadata"),
    ])
      await expect(run(relay, call)).to.emit(relay, "CallFailed");
    expect(await implementation.totalMinted()).to.equal(0n);
  });
});
