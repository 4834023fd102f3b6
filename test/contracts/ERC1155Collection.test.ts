import { expect } from "chai";
import { MaxUint256, ZeroAddress } from "ethers";

import {
  createErc1155,
  deploySystem,
  ethers,
  HOSTED_BASE_URI,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "./support/deploy.ts";
import { Mode } from "../support/receiver-mode.ts";
import { CHAIN_ID } from "./support/sign.ts";

const MAX_AMOUNT = 2n ** 128n - 1n;

async function deployCollections() {
  const system = await deploySystem();
  const collection = await createErc1155(system);
  const selfHosted = await createErc1155(system, { hosted: false });
  const receiver = await ethers.deployContract("ProgrammableReceiver");
  return { ...system, collection, selfHosted, receiver };
}

describe("ERC1155Collection", () => {
  async function setUp() {
    const system = await networkHelpers.loadFixture(deployCollections);
    const { relay, collection, factory } = system;
    const does = async (fragment: string, ...args: unknown[]) => run(relay, await item(collection, fragment, ...args));
    /** Runs one item that has to fail, with this error of the collection. */
    const fails = async (call: [string, ...unknown[]], error: string, ...args: unknown[]) => {
      const number = nextNumber();
      await expect(run(relay, { ...(await item(collection, ...call)), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(number, collection.interface.encodeErrorResult(error, args as [bigint]));
    };
    const implementation = await ethers.getContractAt("ERC1155Collection", await factory.erc1155Implementation());
    return { ...system, does, fails, implementation };
  }

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

    it("says so when the id has its own URI, and only then", async () => {
      const { collection, does, alice } = await setUp();
      await expect(does("create", alice.address, 1n, 1n, "ipfs://one"))
        .to.emit(collection, "URI")
        .withArgs("ipfs://one", 1n);
      await expect(does("create", alice.address, 2n, 1n, "")).not.to.emit(collection, "URI");
    });

    it("may create an id without a copy", async () => {
      const { collection, does, alice } = await setUp();
      await does("create", alice.address, 0n, 0n, "");
      expect([await collection.exists(0n), await collection.totalSupply(0n)]).to.deep.equal([true, 0n]);
    });

    it("refuses an id that was created, even if all copies are burnt", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 5n, 3n, "");
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      await collection.connect(alice).burn(alice.address, 5n, 3n);
      await fails(["create", alice.address, 5n, 3n, ""], "ERC1155AlreadyCreated", 5n);
      expect(await collection.exists(5n)).to.equal(true);
    });

    it("takes up to 2^128 - 1 copies", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT, "");
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
      for (const amount of [MAX_AMOUNT + 1n, MaxUint256]) {
        await fails(["create", alice.address, 2n, amount, ""], "ERC1155ExceededMaxSupply", 2n, amount, MAX_AMOUNT);
      }
      expect(await collection.exists(2n)).to.equal(false);
    });

    it("is for minters only", async () => {
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

    it("refuses an id that was not created", async () => {
      const { fails, alice } = await setUp();
      await fails(["mint", alice.address, 1n, 1n], "ERC1155NotCreated", 1n);
    });

    it("refuses to pass 2^128 - 1, and goes on after copies were burnt", async () => {
      const { collection, does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, MAX_AMOUNT - 1n, "");
      await fails(["mint", alice.address, 1n, 2n], "ERC1155ExceededMaxSupply", 1n, 2n, 1n);
      await fails(["mint", alice.address, 1n, MaxUint256], "ERC1155ExceededMaxSupply", 1n, MaxUint256, 1n);
      await does("mint", alice.address, 1n, 1n);
      await collection.connect(alice).burn(alice.address, 1n, 7n);
      await does("mint", alice.address, 1n, 7n);
      expect(await collection.totalSupply(1n)).to.equal(MAX_AMOUNT);
    });

    it("refuses the zero address", async () => {
      const { does, fails, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      await fails(["mint", ZeroAddress, 1n, 1n], "ERC1155InvalidReceiver", ZeroAddress);
      await fails(["create", ZeroAddress, 2n, 1n, ""], "ERC1155InvalidReceiver", ZeroAddress);
    });

    describe("given a receiver with code", () => {
      it("asks it", async () => {
        const { collection, relay, does, receiver, alice } = await setUp();
        await does("create", receiver.target, 1n, 1n, "");
        expect(await collection.balanceOf(receiver.target, 1n)).to.equal(1n);
        await receiver.program(Mode.reason);
        const number = nextNumber();
        const reason = receiver.interface.encodeErrorResult("Refused", [await relay.getAddress(), ZeroAddress]);
        await expect(run(relay, { ...(await item(collection, "mint", receiver.target, 1n, 1n)), number }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, reason);
        expect(await collection.totalSupply(1n)).to.equal(1n);
        expect(await collection.balanceOf(alice.address, 1n)).to.equal(0n);
      });

      for (const [answer, mode] of [
        ["a lie", Mode.lie],
        ["nothing", Mode.empty],
        ["all gas burnt", Mode.burn],
      ] as const) {
        it(`fails when its answer is: ${answer}`, async () => {
          const { does, fails, receiver } = await setUp();
          await does("create", receiver.target, 1n, 1n, "");
          await receiver.program(mode);
          await fails(["mint", receiver.target, 1n, 1n], "ERC1155InvalidReceiver", receiver.target);
        });
      }

      it("fails without hooks", async () => {
        const { fails } = await setUp();
        const rejecting = await ethers.deployContract("RejectingReceiver");
        await fails(["create", rejecting.target, 1n, 1n, ""], "ERC1155InvalidReceiver", rejecting.target);
      });

      it("stays consistent when it burns the copies at once", async () => {
        const { collection, does, receiver } = await setUp();
        const burn = collection.interface.encodeFunctionData("burn", [receiver.target, 1n, 4n]);
        await receiver.programCall(collection.target, burn);
        await does("create", receiver.target, 1n, 10n, "");
        expect(await collection.totalSupply(1n)).to.equal(6n);
        expect(await collection.balanceOf(receiver.target, 1n)).to.equal(6n);
      });
    });
  });

  describe("burn and burnBatch", () => {
    it("take copies out of the supply, for their holder and whom the holder approved", async () => {
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

    it("revert for others, the service included", async () => {
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

    it("revert for more than the holder has", async () => {
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
    it("move copies without touching the supply", async () => {
      const { collection, does, alice, bob } = await setUp();
      await does("create", alice.address, 1n, 10n, "");
      await collection.connect(alice).safeTransferFrom(alice.address, bob.address, 1n, 4n, "0x");
      await collection.connect(alice).safeBatchTransferFrom(alice.address, bob.address, [1n, 1n], [1n, 2n], "0x");
      expect(await collection.balanceOfBatch([alice.address, bob.address], [1n, 1n])).to.deep.equal([3n, 7n]);
      expect(await collection.totalSupply(1n)).to.equal(10n);
    });
  });

  describe("uri and setTokenURI", () => {
    it("follow the template until the id has its own", async () => {
      const { collection, selfHosted, factory, admin, does, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      await does("create", alice.address, 2n, 1n, "ipfs://two");
      const suffix = `${CHAIN_ID}/${await collection.getAddress()}/{id}`;
      expect(await collection.uri(1n)).to.equal(`${HOSTED_BASE_URI}${suffix}`);
      expect(await collection.uri(2n)).to.equal("ipfs://two");
      expect(await selfHosted.uri(1n)).to.equal("https://app.example/{id}.json");
      await factory.connect(admin).setHostedBaseURI("https://moved.example/");
      expect(await collection.uri(1n)).to.equal(`https://moved.example/${suffix}`);
      await collection.connect(admin).setBaseURI("ipfs://all/{id}");
      expect(await collection.uri(1n)).to.equal("ipfs://all/{id}");
      expect(await collection.uri(2n)).to.equal("ipfs://two");
    });

    it("give an id its own URI and take it away again", async () => {
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

    it("are the owner's alone, for created ids, until frozen", async () => {
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

    it("still let a new id bring its own URI after the freeze, without touching the others", async () => {
      const { collection, factory, admin, does, alice } = await setUp();
      await does("create", alice.address, 1n, 1n, "");
      const before = await collection.uri(1n);
      await collection.connect(admin).freezeMetadata();
      await does("create", alice.address, 2n, 1n, "ipfs://two");
      await factory.connect(admin).setHostedBaseURI("https://moved.example/");
      expect([await collection.uri(1n), await collection.uri(2n)]).to.deep.equal([before, "ipfs://two"]);
    });
  });

  describe("name and symbol", () => {
    it("are those of the creation", async () => {
      const { collection } = await setUp();
      expect([await collection.name(), await collection.symbol()]).to.deep.equal(["Harbour Lights", "HARB"]);
    });
  });

  describe("supportsInterface", () => {
    for (const [name, id, supported] of [
      ["ERC-165", "0x01ffc9a7", true],
      ["ERC-1155", "0xd9b67a26", true],
      ["ERC-1155 metadata", "0x0e89341c", true],
      ["ERC-173", "0x7f5828d0", true],
      ["ERC-2981", "0x2a55205a", true],
      ["ERC-4906", "0x49064906", true],
      ["ERC-7572", "0xe8a3d485", true],
      ["ERC-721", "0x80ac58cd", false],
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
