import { expect } from "chai";
import { Interface, ZeroAddress } from "ethers";
import hre from "hardhat";

import { encodeErc1155Arguments, encodeErc721Arguments } from "../../api/chain/clone-arguments.ts";
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

const BASE = {
  hosted: true,
  name: "Harbour Lights",
  symbol: "HARB",
  owner: null,
  royaltyBps: 0,
  royaltyRecipient: null,
  baseUri: "",
  contractUri: "",
};

describe("CollectionFactory", () => {
  const setUp = () => networkHelpers.loadFixture(deploySystem);

  describe("constructor", () => {
    it("deploys both implementations and stores the relay and the hosted base", async () => {
      const { factory, relay } = await setUp();
      expect(await factory.relay()).to.equal(relay.target);
      expect(await factory.hostedBaseURI()).to.equal(HOSTED_BASE_URI);
      for (const address of [await factory.erc721Implementation(), await factory.erc1155Implementation()]) {
        const implementation = await ethers.getContractAt("ICollection", address);
        expect(await implementation.factory()).to.equal(factory.target);
        expect(await implementation.relay()).to.equal(relay.target);
      }
      await expect(factory.deploymentTransaction()).to.emit(factory, "HostedBaseURIUpdated").withArgs(HOSTED_BASE_URI);
    });

    it("reverts with FactoryInvalidRelay for a relay without code", async () => {
      const { stranger } = await setUp();
      const factory = await ethers.getContractFactory("CollectionFactory");
      for (const relay of [stranger.address, ZeroAddress]) {
        await expect(factory.deploy(relay, HOSTED_BASE_URI))
          .to.be.revertedWithCustomError(factory, "FactoryInvalidRelay")
          .withArgs(relay);
      }
    });

    it("stays 1,024 bytes below the limit of creation code (EIP-3860)", async function () {
      // Code instrumented for coverage is larger.
      if (hre.globalOptions.coverage) this.skip();
      const { bytecode } = await ethers.getContractFactory("CollectionFactory");
      expect((bytecode.length - 2) / 2).to.be.at.most(49_152 - 1_024);
    });
  });

  for (const [kind, create, predict, args] of [
    ["ERC721", "createERC721", "predictERC721", encodeErc721Arguments({ ...BASE, maxSupply: 9n })],
    ["ERC1155", "createERC1155", "predictERC1155", encodeErc1155Arguments(BASE)],
  ] as const) {
    describe(create, () => {
      it(`creates an ${kind} collection at the predicted address and emits CollectionCreated`, async () => {
        const { factory, relay } = await setUp();
        const number = nextNumber();
        const predicted = await factory[predict](number, args);
        expect(await ethers.provider.getCode(predicted)).to.equal("0x");
        await expect(run(relay, { ...(await item(factory, create, args)), number }))
          .to.emit(factory, "CollectionCreated")
          .withArgs(number, predicted);
        const collection = await ethers.getContractAt("IERC1155Collection", predicted);
        expect(await collection.name()).to.equal("Harbour Lights");
        expect(await collection.factory()).to.equal(factory.target);
      });

      it("creates different addresses for different numbers, arguments and kinds", async () => {
        const { factory } = await setUp();
        const number = nextNumber();
        const other = encodeErc1155Arguments({ ...BASE, name: "Other" });
        const addresses = new Set([
          await factory.predictERC721(number, args),
          await factory.predictERC1155(number, args),
          await factory[predict](number + 1n, args),
          await factory[predict](number, other),
        ]);
        expect(addresses.size).to.equal(4);
      });

      it("creates a collection only once, because the relay skips a consumed number", async () => {
        const { factory, relay } = await setUp();
        const number = nextNumber();
        const creation = { ...(await item(factory, create, args)), number };
        await run(relay, creation);
        await expect(run(relay, creation)).to.emit(relay, "CallSkipped").withArgs(number);
      });

      it("reverts with FactoryUnauthorizedRelay for any other caller", async () => {
        const { factory, admin, stranger } = await setUp();
        for (const caller of [stranger, admin]) {
          await expect(factory.connect(caller)[create](args))
            .to.be.revertedWithCustomError(factory, "FactoryUnauthorizedRelay")
            .withArgs(caller.address);
        }
      });

      it("fails for truncated arguments and for too long ones", async () => {
        const { factory, relay } = await setUp();
        const errors = await ethers.getContractAt("CloneArguments", factory.target);
        const length = (args.length - 2) / 2;
        for (const [cut, reason] of [
          [ethers.dataSlice(args, 0, length - 1), ["CloneArgumentsTruncated", [length - 1, length]]],
          ["0x", ["CloneArgumentsTruncated", null]],
          ["0x01", ["CloneArgumentsTruncated", null]],
          ["0x0f", ["CloneArgumentsTruncated", null]],
          ["0x000000", ["CloneArgumentsTruncated", null]],
        ] as const) {
          const number = nextNumber();
          const receipt = await (await run(relay, { ...(await item(factory, create, cut)), number })).wait();
          const failure = receipt!.logs
            .map((log) => relay.interface.parseLog(log)!)
            .find((e) => e.name === "CallFailed");
          const error = errors.interface.parseError(failure!.args["reason"] as string);
          expect(error?.name).to.equal(reason[0]);
          if (reason[1] !== null) expect([...error!.args]).to.deep.equal(reason[1].map(BigInt));
        }
        const clones = new ethers.Interface(["error CloneArgumentsTooLong()"]);
        const number = nextNumber();
        const long = ethers.concat(["0x0100000000", new Uint8Array(24_576 - 45 - 4)]);
        await expect(run(relay, { ...(await item(factory, create, long)), number, gasLimit: 8_000_000n }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, clones.encodeErrorResult("CloneArgumentsTooLong"));
      });

      it("fails with CloneArgumentsInvalidRoyalty for a royalty above the price", async () => {
        const { factory, relay, alice } = await setUp();
        const errors = await ethers.getContractAt("CloneArguments", factory.target);
        const number = nextNumber();
        const bad = ethers.concat(["0x05", "0x2711", alice.address, "0x00000000"]);
        await expect(run(relay, { ...(await item(factory, create, bad)), number }))
          .to.emit(relay, "CallFailed")
          .withArgs(number, errors.interface.encodeErrorResult("CloneArgumentsInvalidRoyalty", [10_001n]));
      });
    });
  }

  describe("setHostedBaseURI", () => {
    it("changes the URIs of all hosted collections, for the relay's owner", async () => {
      const { factory, relay, admin, alice } = await setUp();
      await expect(factory.connect(admin).setHostedBaseURI("https://new.example/"))
        .to.emit(factory, "HostedBaseURIUpdated")
        .withArgs("https://new.example/");
      expect(await factory.hostedBaseURI()).to.equal("https://new.example/");
      await relay.connect(admin).transferOwnership(alice.address);
      await relay.connect(alice).acceptOwnership();
      await expect(factory.connect(admin).setHostedBaseURI("x"))
        .to.be.revertedWithCustomError(factory, "OwnableUnauthorizedAccount")
        .withArgs(admin.address);
      await factory.connect(alice).setHostedBaseURI("y");
      expect(await factory.hostedBaseURI()).to.equal("y");
    });

    it("reverts with OwnableUnauthorizedAccount for others, also operators and the relay", async () => {
      const { factory, relay, operator } = await setUp();
      await expect(factory.connect(operator).setHostedBaseURI("x"))
        .to.be.revertedWithCustomError(factory, "OwnableUnauthorizedAccount")
        .withArgs(operator.address);
      const number = nextNumber();
      await expect(run(relay, { ...(await item(factory, "setHostedBaseURI", "x")), number }))
        .to.emit(relay, "CallFailed")
        .withArgs(
          number,
          factory.interface.encodeErrorResult("OwnableUnauthorizedAccount", [await relay.getAddress()]),
        );
    });
  });

  describe("given an attacker who calls every function", () => {
    it("changes nothing of a clone or an implementation for a stranger", async () => {
      const system = await setUp();
      const { stranger, factory } = system;
      const collection = await createErc721(system);
      const state = async () =>
        Promise.all([
          collection.owner(),
          collection.pendingOwner(),
          collection.maxSupply(),
          collection.totalMinted(),
          collection.contractURI(),
          collection.metadataFrozen(),
          collection.royaltyFrozen(),
          collection.isMinter(stranger.address),
          collection.isMinter(system.relay.target),
        ]);
      const before = await state();
      // Untyped, because the test calls every function with generated arguments.
      const anything = new Interface(collection.interface.fragments);
      const sample: Record<string, unknown> = {
        address: stranger.address,
        string: "x",
        bool: true,
        bytes: "0x",
        bytes32: ethers.ZeroHash,
        uint256: 1n,
      };
      const writes: string[] = [];
      anything.forEachFunction((fragment) => {
        // Anyone can approve operators for their own tokens.
        if (fragment.constant || fragment.name === "setApprovalForAll") return;
        writes.push(
          anything.encodeFunctionData(
            fragment,
            fragment.inputs.map((input) => sample[input.type]),
          ),
        );
      });
      expect(writes.length).to.be.above(15);
      const initialisers = ["initialize()", "init()", "initialize(address)", "initialize(bytes)"].map(
        (signature) => `${ethers.id(signature).slice(0, 10)}${stranger.address.slice(2).padStart(64, "0")}`,
      );
      for (const to of [await collection.getAddress(), await factory.erc721Implementation()]) {
        for (const data of [...writes, ...initialisers]) {
          await expect(stranger.sendTransaction({ to, data, gasLimit: 1_000_000n }), data).to.be.revert(ethers);
        }
      }
      expect(await state()).to.deep.equal(before);
    });
  });
});
