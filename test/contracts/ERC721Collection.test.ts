import { expect } from "chai";
import { ZeroAddress } from "ethers";

import {
  createErc721,
  deploySystem,
  ethers,
  HOSTED_BASE_URI,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "./support/deploy.ts";
import { CHAIN_ID } from "./support/sign.ts";
import { Mode } from "../support/receiver-mode.ts";

async function deployCollections() {
  const system = await deploySystem();
  const collection = await createErc721(system);
  const capped = await createErc721(system, { maxSupply: 3n });
  const selfHosted = await createErc721(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, capped, selfHosted, receiver };
}

describe("ERC721Collection", () => {
  async function setUp() {
    const system = await networkHelpers.loadFixture(deployCollections);
    const { relay, collection, factory } = system;
    const mintTo = async (...receivers: string[]) =>
      run(relay, ...(await Promise.all(receivers.map((to) => item(collection, "mint", to)))));
    const implementation = await ethers.getContractAt("ERC721Collection", await factory.erc721Implementation());
    return { ...system, mintTo, implementation };
  }

  describe("mint", () => {
    it("counts from 1 without gaps", async () => {
      const { collection, mintTo, alice, bob } = await setUp();
      const tx = mintTo(alice.address, bob.address, alice.address);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, alice.address, 1n);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, bob.address, 2n);
      await expect(tx).to.emit(collection, "Transfer").withArgs(ZeroAddress, alice.address, 3n);
      expect(await collection.totalMinted()).to.equal(3n);
      expect(await collection.balanceOf(alice.address)).to.equal(2n);
    });

    it("returns the id", async () => {
      const { collection, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await collection.connect(admin).setMinter(admin.address, true);
      expect(await collection.connect(admin).mint.staticCall(alice.address)).to.equal(2n);
    });

    it("leaves no gap behind a mint that failed", async () => {
      const { collection, relay, receiver, alice, bob, mintTo } = await setUp();
      await receiver.program(Mode.reason);
      await expect(mintTo(alice.address, await receiver.getAddress(), bob.address)).to.emit(relay, "CallFailed");
      expect(await collection.ownerOf(2n)).to.equal(bob.address);
      expect(await collection.totalMinted()).to.equal(2n);
    });

    it("asks a receiver with code, and tells it who mints", async () => {
      const { collection, relay, receiver, mintTo } = await setUp();
      await mintTo(await receiver.getAddress());
      expect(await collection.ownerOf(1n)).to.equal(receiver.target);
      await receiver.program(Mode.reason);
      const number = nextNumber();
      const refusal = receiver.interface.encodeErrorResult("Refused", [await relay.getAddress(), ZeroAddress]);
      await expect(run(relay, { ...(await item(collection, "mint", receiver.target)), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(number, refusal);
    });

    describe("given a receiver that does not accept", () => {
      for (const mode of ["lie", "empty", "burn", "revertMegabyte"] as const) {
        it(`fails when the receiver's answer is: ${mode}`, async () => {
          const { collection, relay, receiver } = await setUp();
          await receiver.program(Mode[mode]);
          const number = nextNumber();
          const gasLimit = mode === "revertMegabyte" ? 7_000_000n : 1_000_000n;
          const tx = run(relay, { ...(await item(collection, "mint", receiver.target)), number, gasLimit });
          const invalid = collection.interface.encodeErrorResult("ERC721InvalidReceiver", [receiver.target]);
          const reason = mode === "revertMegabyte" ? (bytes: string) => bytes.length === 2 + 2 * 256 : invalid;
          await expect(tx).to.emit(relay, "CallFailed").withArgs(number, reason);
          expect(await collection.totalMinted()).to.equal(0n);
        });
      }

      it("fails for a contract without hooks", async () => {
        const { collection, relay } = await setUp();
        const rejecting = await ethers.deployContract("RejectingReceiver");
        const number = nextNumber();
        const reason = collection.interface.encodeErrorResult("ERC721InvalidReceiver", [rejecting.target]);
        await expect(run(relay, { ...(await item(collection, "mint", rejecting.target)), number }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, reason);
      });

      it("fails within its gas limit when a megabyte is returned", async () => {
        const { collection, relay, receiver } = await setUp();
        await receiver.program(Mode.returnMegabyte);
        const number = nextNumber();
        await expect(run(relay, { ...(await item(collection, "mint", receiver.target)), number, gasLimit: 1_000_000n }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, (bytes: string) => bytes.startsWith("0x"));
        expect(await collection.totalMinted()).to.equal(0n);
      });
    });

    describe("given a receiver that moves the token on at once", () => {
      it("stays consistent", async () => {
        const { collection, receiver, bob, mintTo } = await setUp();
        const move = collection.interface.encodeFunctionData("transferFrom", [receiver.target, bob.address, 1n]);
        await receiver.programCall(collection.target, move);
        await mintTo(await receiver.getAddress());
        expect(await collection.ownerOf(1n)).to.equal(bob.address);
        expect(await collection.balanceOf(receiver.target)).to.equal(0n);
      });

      it("stays consistent when it burns it", async () => {
        const { collection, receiver, alice, mintTo } = await setUp();
        await receiver.programCall(collection.target, collection.interface.encodeFunctionData("burn", [1n]));
        await mintTo(await receiver.getAddress(), alice.address);
        expect(await collection.ownerOf(2n)).to.equal(alice.address);
        expect([await collection.totalMinted(), await collection.totalSupply()]).to.deep.equal([2n, 1n]);
      });
    });

    it("refuses the zero address", async () => {
      const { collection, relay } = await setUp();
      for (const fragment of ["mint", "mintToWallet"]) {
        const number = nextNumber();
        const reason = collection.interface.encodeErrorResult("ERC721InvalidReceiver", [ZeroAddress]);
        await expect(run(relay, { ...(await item(collection, fragment, ZeroAddress)), number }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, reason);
      }
    });

    describe("given the cap is reached", () => {
      it("fails, and burning does not make room", async () => {
        const { capped, relay, alice } = await setUp();
        const mint = await item(capped, "mint", alice.address);
        await run(relay, mint, mint, mint);
        await capped.connect(alice).burn(2n);
        const reason = capped.interface.encodeErrorResult("ERC721ExceededMaxSupply", [3n]);
        for (const fragment of ["mint", "mintToWallet"]) {
          const number = nextNumber();
          await expect(run(relay, { ...(await item(capped, fragment, alice.address)), number }))
            .to.emit(relay, "CallFailed")
            .withArgs(number, reason);
        }
        expect([await capped.totalMinted(), await capped.totalSupply()]).to.deep.equal([3n, 2n]);
      });
    });
  });

  describe("mintToWallet", () => {
    it("mints like mint, without asking the receiver", async () => {
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

    it("is for the service only, and only until it is dismissed", async () => {
      const { collection, relay, admin, alice } = await setUp();
      await collection.connect(admin).setMinter(admin.address, true);
      await expect(collection.connect(admin).mintToWallet(alice.address))
        .to.be.revertedWithCustomError(collection, "CollectionUnauthorizedRelay")
        .withArgs(admin.address);
      await collection.connect(admin).setMinter(relay.target, false);
      const number = nextNumber();
      const reason = collection.interface.encodeErrorResult("CollectionUnauthorizedMinter", [relay.target]);
      await expect(run(relay, { ...(await item(collection, "mintToWallet", alice.address)), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(number, reason);
    });
  });

  describe("maxSupply and lowerMaxSupply", () => {
    it("start with the arguments", async () => {
      const { collection, capped } = await setUp();
      expect([await collection.maxSupply(), await capped.maxSupply()]).to.deep.equal([0n, 3n]);
    });

    it("lower it down to what was minted", async () => {
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
      const number = nextNumber();
      await expect(run(relay, { ...(await item(capped, "mint", alice.address)), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(number, capped.interface.encodeErrorResult("ERC721ExceededMaxSupply", [1n]));
    });

    it("give an unlimited collection a cap, also before its first mint", async () => {
      const { collection, relay, admin, alice } = await setUp();
      await expect(collection.connect(admin).lowerMaxSupply(2n))
        .to.emit(collection, "MaxSupplyLowered")
        .withArgs(0n, 2n);
      const mint = await item(collection, "mint", alice.address);
      await expect(run(relay, mint, mint, mint)).to.emit(relay, "CallFailed");
      expect(await collection.totalMinted()).to.equal(2n);
    });

    it("refuse to raise it, to keep it, to remove it, and to go under what was minted", async () => {
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

    it("are the owner's alone", async () => {
      const { capped, stranger } = await setUp();
      await expect(capped.connect(stranger).lowerMaxSupply(1n))
        .to.be.revertedWithCustomError(capped, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
    });
  });

  describe("burn", () => {
    it("destroys a token, for its holder and whom the holder approved", async () => {
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

    it("never gives the id to another token", async () => {
      const { collection, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await collection.connect(alice).burn(1n);
      await mintTo(alice.address);
      expect(await collection.ownerOf(2n)).to.equal(alice.address);
      await expect(collection.ownerOf(1n))
        .to.be.revertedWithCustomError(collection, "ERC721NonexistentToken")
        .withArgs(1n);
    });

    it("reverts for others, the service and the collection's owner included", async () => {
      const { collection, relay, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(admin).burn(1n))
        .to.be.revertedWithCustomError(collection, "ERC721InsufficientApproval")
        .withArgs(admin.address, 1n);
      const number = nextNumber();
      const reason = collection.interface.encodeErrorResult("ERC721InsufficientApproval", [relay.target, 1n]);
      await expect(run(relay, { ...(await item(collection, "burn", 1n)), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(number, reason);
    });

    it("reverts for a token that does not exist", async () => {
      const { collection, alice } = await setUp();
      await expect(collection.connect(alice).burn(1n))
        .to.be.revertedWithCustomError(collection, "ERC721NonexistentToken")
        .withArgs(1n);
    });
  });

  describe("approvals", () => {
    it("end with the transfer, from the first approval of the collection on", async () => {
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

    it("can be withdrawn, also where there was none", async () => {
      const { collection, alice, bob, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(alice).approve(ZeroAddress, 1n))
        .to.emit(collection, "Approval")
        .withArgs(alice.address, ZeroAddress, 1n);
      await collection.connect(alice).approve(bob.address, 1n);
      await collection.connect(alice).approve(ZeroAddress, 1n);
      expect(await collection.getApproved(1n)).to.equal(ZeroAddress);
    });

    it("are refused to those who may not give them", async () => {
      const { collection, alice, bob, mintTo } = await setUp();
      await mintTo(alice.address);
      await expect(collection.connect(bob).approve(bob.address, 1n))
        .to.be.revertedWithCustomError(collection, "ERC721InvalidApprover")
        .withArgs(bob.address);
    });
  });

  describe("tokenURI", () => {
    it("follows the hosted base, or the base of the creation, or the owner's", async () => {
      const { collection, selfHosted, relay, factory, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      await run(relay, await item(selfHosted, "mint", alice.address));
      const suffix = `${CHAIN_ID}/${await collection.getAddress()}/1`;
      expect(await collection.tokenURI(1n)).to.equal(`${HOSTED_BASE_URI}${suffix}`);
      expect(await selfHosted.tokenURI(1n)).to.equal("https://app.example/tokens/1");
      await factory.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await collection.tokenURI(1n)).to.equal(`https://moved.example/${suffix}`);
      await collection.connect(admin).setBaseURI("ipfs://base/");
      expect(await collection.tokenURI(1n)).to.equal("ipfs://base/1");
      await collection.connect(admin).setBaseURI("");
      expect(await collection.tokenURI(1n)).to.equal("");
    });

    it("stays where it is once frozen", async () => {
      const { collection, factory, admin, alice, mintTo } = await setUp();
      await mintTo(alice.address);
      const before = await collection.tokenURI(1n);
      await collection.connect(admin).freezeMetadata();
      await factory.connect(admin).setHostedBaseURI("https://moved.example/");
      await mintTo(alice.address);
      expect(await collection.tokenURI(1n)).to.equal(before);
      expect(await collection.tokenURI(2n)).to.equal(before.replace(/1$/u, "2"));
    });

    it("reverts for a token that does not exist", async () => {
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
      ["ERC-173", "0x7f5828d0", true],
      ["ERC-2981", "0x2a55205a", true],
      ["ERC-4906", "0x49064906", true],
      ["ERC-7572", "0xe8a3d485", true],
      ["ERC-1155", "0xd9b67a26", false],
      ["nothing", "0xffffffff", false],
    ] as const) {
      it(`says ${supported} to ${name}`, async () => {
        const { collection } = await setUp();
        expect(await collection.supportsInterface(id)).to.equal(supported);
      });
    }
  });

  describe("given the implementation itself", () => {
    it("belongs to nobody and mints nothing", async () => {
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
