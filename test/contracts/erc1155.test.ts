import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import { Mode } from "../support/receiver-mode.ts";
import { createErc1155, deploySystem, ethers, HOSTED_BASE_URI, item, networkHelpers, run } from "./support/deploy.ts";
import { emits, expectFailure, reverts } from "./support/expect-failure.ts";
import { CHAIN_ID } from "./support/sign.ts";

/** The largest supply of an id. */
const MAX_AMOUNT = 2n ** 128n - 1n;

/** A hosted and a self-hosted collection. */
async function deployCollections() {
  const system = await deploySystem();
  const collection = await createErc1155(system);
  const selfHosted = await createErc1155(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, selfHosted, receiver };
}

/** `does` calls the hosted collection through the relay; `fails` does so, and asserts that it fails with an error of the collection. */
async function setUp() {
  const system = await networkHelpers.loadFixture(deployCollections);
  const { relay, collection } = system;
  const does = async (fragment: string, ...args: unknown[]) => run(relay, await item(collection, fragment, ...args));
  const fails = async (call: [string, ...unknown[]], error: string, ...args: unknown[]) =>
    expectFailure(relay, await item(collection, ...call), collection, error, ...args);
  return { ...system, does, fails };
}

describe("ERC1155Collection", () => {
  describe("create", () => {
    it("mints the first copies of an id, also none, with a URI of its own or without", async () => {
      const { collection, relay, does, alice } = await setUp();
      const first = [alice.address, MaxUint256, 10n] as const;
      await emits(does("create", ...first, ""), collection, "TransferSingle", relay.target, ZeroAddress, ...first);
      expect(await collection.exists(MaxUint256)).to.equal(true);
      expect(await collection.totalSupply(MaxUint256)).to.equal(10n);
      expect(await collection.balanceOf(alice.address, MaxUint256)).to.equal(10n);
      await emits(does("create", alice.address, 1n, 1n, "ipfs://one"), collection, "URI", "ipfs://one", 1n);
      await expect(does("create", alice.address, 2n, 1n, "")).not.to.emit(collection, "URI");
      await does("create", alice.address, 0n, 0n, "");
      expect([await collection.exists(0n), await collection.totalSupply(0n)]).to.deep.equal([true, 0n]);
    });

    it("fails for an existing id, even if all copies are burnt", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 5n, 3n, "");
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      await collection.connect(alice).burn(alice.address, 5n, 3n);
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      expect(await collection.exists(5n)).to.equal(true);
    });

    it("fails above 2^128 - 1 copies, and for any other caller", async () => {
      const { collection, does, fails, alice, stranger } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT, "");
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
      for (const amount of [MAX_AMOUNT + 1n, MaxUint256])
        await fails(["create", alice.address, 2n, amount, ""], "ERC1155ExceededMaxSupply", 2n, amount, MAX_AMOUNT);
      expect(await collection.exists(2n)).to.equal(false);
      const attempt = collection.connect(stranger).create(stranger.address, 2n, 1n, "");
      await reverts(attempt, collection, "CollectionUnauthorizedMinter", stranger.address);
    });
  });

  describe("mint", () => {
    it("adds copies to an id that exists", async () => {
      const { collection, relay, does, fails, alice, bob } = await setUp();
      await fails(["mint", alice.address, 1n, 1n], "ERC1155NotCreated", 1n);
      await does("create", alice.address, 1n, 10n, "");
      const more = [bob.address, 1n, 5n] as const;
      await emits(does("mint", ...more), collection, "TransferSingle", relay.target, ZeroAddress, ...more);
      expect(await collection.totalSupply(1n)).to.equal(15n);
      for (const call of [
        ["mint", ZeroAddress, 1n, 1n],
        ["create", ZeroAddress, 2n, 1n, ""],
      ] as [string, ...unknown[]][])
        await fails(call, "ERC1155InvalidReceiver", ZeroAddress);
    });

    it("fails above 2^128 - 1, and mints again after a burn", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT - 1n, "");
      for (const amount of [2n, MaxUint256])
        await fails(["mint", alice.address, 1n, amount], "ERC1155ExceededMaxSupply", 1n, amount, 1n);
      await does("mint", alice.address, 1n, 1n);
      await collection.connect(alice).burn(alice.address, 1n, 7n);
      await does("mint", alice.address, 1n, 7n);
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
    });

    it("calls the hook of a receiver with code, and fails unless it accepts", async () => {
      const { collection, relay, does, fails, receiver } = await setUp();
      await does("create", receiver.target, 1n, 1n, "");
      expect(await collection.balanceOf(receiver.target, 1n)).to.equal(1n);
      await receiver.program(Mode.reason);
      const call = await item(collection, "mint", receiver.target, 1n, 1n);
      await expectFailure(relay, call, receiver, "Refused", relay.target, ZeroAddress);
      for (const mode of [Mode.lie, Mode.empty, Mode.burn]) {
        await receiver.program(mode);
        await fails(["mint", receiver.target, 1n, 1n], "ERC1155InvalidReceiver", receiver.target);
      }
      const rejecting = await ethers.deployContract("RejectingReceiver");
      await fails(["create", rejecting.target, 2n, 1n, ""], "ERC1155InvalidReceiver", rejecting.target);
      expect(await collection.totalSupply(1n)).to.equal(1n);
    });

    it("stays consistent when the receiver's hook burns copies", async () => {
      const { collection, does, receiver } = await setUp();
      const burn = collection.interface.encodeFunctionData("burn", [receiver.target, 1n, 4n]);
      await receiver.programCall(collection.target, burn);
      await does("create", receiver.target, 1n, 10n, "");
      expect(await collection.totalSupply(1n)).to.equal(6n);
      expect(await collection.balanceOf(receiver.target, 1n)).to.equal(6n);
    });
  });

  it("burn and burnBatch: subtract copies from the supply, for their holder and the holder's approved operators", async () => {
    const { collection, does, fails, relay, alice, bob, stranger } = await setUp();
    for (const id of [1n, 2n]) await does("create", alice.address, id, 10n, "");
    const missing = "ERC1155MissingApprovalForAll";
    for (const attempt of [
      () => collection.connect(stranger).burn(alice.address, 1n, 1n),
      () => collection.connect(stranger).burnBatch(alice.address, [1n], [1n]),
    ])
      await reverts(attempt(), collection, missing, stranger.address, alice.address);
    await fails(["burn", alice.address, 1n, 1n], missing, relay.target, alice.address);
    for (const amount of [11n, MaxUint256]) {
      const attempt = collection.connect(alice).burn(alice.address, 1n, amount);
      await reverts(attempt, collection, "ERC1155InsufficientBalance", alice.address, 10n, amount, 1n);
    }
    await collection.connect(alice).burn(alice.address, 1n, 1n);
    await collection.connect(alice).setApprovalForAll(bob.address, true);
    await collection.connect(bob).burn(alice.address, 1n, 2n);
    const batch = [
      [1n, 2n, 1n],
      [1n, 5n, 2n],
    ] as const;
    const burnt = collection.connect(bob).burnBatch(alice.address, [...batch[0]], [...batch[1]]);
    await emits(burnt, collection, "TransferBatch", bob.address, alice.address, ZeroAddress, ...batch);
    expect([await collection.totalSupply(1n), await collection.totalSupply(2n)]).to.deep.equal([4n, 5n]);
  });

  it("transfers: move copies without changing the supply, and the relay is refused as an operator", async () => {
    const { collection, relay, does, alice, bob } = await setUp();
    await does("create", alice.address, 1n, 10n, "");
    const held = collection.connect(alice);
    await held.safeTransferFrom(alice.address, bob.address, 1n, 4n, "0x");
    await held.safeBatchTransferFrom(alice.address, bob.address, [1n, 1n], [1n, 2n], "0x");
    expect(await collection.balanceOfBatch([alice.address, bob.address], [1n, 1n])).to.deep.equal([3n, 7n]);
    expect(await collection.totalSupply(1n)).to.equal(10n);
    await reverts(held.setApprovalForAll(relay.target, true), collection, "ERC1155InvalidOperator", relay.target);
    await held.setApprovalForAll(relay.target, false);
    expect(await collection.isApprovedForAll(alice.address, relay.target)).to.equal(false);
  });

  describe("uri and setTokenURI", () => {
    it("follow the template unless the id has its own URI, which can be given and removed", async () => {
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
      for (const [own, uri] of [
        ["ipfs://one", "ipfs://one"],
        ["", "ipfs://all/{id}"],
      ] as const) {
        await emits(collection.connect(admin).setTokenURI(1n, own), collection, "URI", uri, 1n);
        expect(await collection.uri(1n)).to.equal(uri);
      }
    });

    it("do not change for other callers, for unknown ids, or after the freeze, when a new id may still have its own", async () => {
      const { collection, relay, admin, does, alice, stranger } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      const set = (caller: typeof admin, id: bigint) => collection.connect(caller).setTokenURI(id, "x");
      await reverts(set(stranger, 1n), collection, "OwnableUnauthorizedAccount", stranger.address);
      await reverts(set(admin, 2n), collection, "ERC1155NotCreated", 2n);
      const before = await collection.uri(1n);
      await collection.connect(admin).freezeMetadata();
      await reverts(set(admin, 1n), collection, "CollectionMetadataFrozen");
      await does("create", alice.address, 2n, 1n, "ipfs://two");
      await relay.connect(admin).setHostedBaseURI("https://moved.example/");
      expect([await collection.uri(1n), await collection.uri(2n)]).to.deep.equal([before, "ipfs://two"]);
    });
  });

  it("name, symbol and supportsInterface: return the values of the creation, and the standards", async () => {
    const { collection } = await setUp();
    expect([await collection.name(), await collection.symbol()]).to.deep.equal(["Harbour Lights", "HARB"]);
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
    ] as const)
      expect(await collection.supportsInterface(id), name).to.equal(supported);
  });

  it("the implementation contract: has no owner and cannot mint", async () => {
    const { factory, relay, alice } = await setUp();
    const implementation = await ethers.getContractAt("ERC1155Collection", await factory.erc1155Implementation());
    expect(await implementation.owner()).to.equal(ZeroAddress);
    expect(await implementation.isMinter(relay.target)).to.equal(false);
    const created = run(relay, await item(implementation, "create", alice.address, 1n, 1n, ""));
    await expect(created).to.emit(relay, "CallFailed");
    expect(await implementation.exists(1n)).to.equal(false);
  });
});
