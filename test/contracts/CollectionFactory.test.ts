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

/**
 * Upper bounds in bytes. Each byte of code costs 200 gas to deploy, and about 1,530 after the Amsterdam hard fork. Code
 * above 24,576 bytes cannot be deployed (EIP-170).
 */
const MAX_CODE_SIZE = {
  Relay: 6_000,
  ERC721Collection: 22_000,
  ERC1155Collection: 24_000,
  CollectionFactory: 3_500,
  WalletDelegate: 4_200,
};

describe("CollectionFactory", () => {
  const setUp = () => networkHelpers.loadFixture(deploySystem);

  describe("constructor", () => {
    it("stores the relay and both implementations", async () => {
      const { factory, relay } = await setUp();
      expect(await factory.relay()).to.equal(relay.target);
      for (const [address, id] of [
        [await factory.erc721Implementation(), "0x80ac58cd"],
        [await factory.erc1155Implementation(), "0xd9b67a26"],
      ] as const) {
        const implementation = await ethers.getContractAt("ERC721Collection", address);
        expect(await implementation.relay()).to.equal(relay.target);
        expect(await implementation.supportsInterface(id)).to.equal(true);
      }
    });

    it("reverts with FactoryInvalidRelay for a relay without code", async () => {
      const { factory: deployed, stranger } = await setUp();
      const implementations = [await deployed.erc721Implementation(), await deployed.erc1155Implementation()] as const;
      const factory = await ethers.getContractFactory("CollectionFactory");
      for (const relay of [stranger.address, ZeroAddress]) {
        await expect(factory.deploy(relay, ...implementations))
          .to.be.revertedWithCustomError(factory, "FactoryInvalidRelay")
          .withArgs(relay);
      }
    });

    it("reverts with FactoryInvalidImplementation for no code, the wrong kind and another relay", async () => {
      const { factory: deployed, relay, admin, stranger } = await setUp();
      const [erc721, erc1155] = [await deployed.erc721Implementation(), await deployed.erc1155Implementation()];
      const factory = await ethers.getContractFactory("CollectionFactory");
      const otherRelay = await ethers.deployContract("Relay", [admin.address, HOSTED_BASE_URI]);
      const of = async (kind: string) =>
        (await ethers.deployContract(kind, [await otherRelay.getAddress()])).getAddress();
      const [other721, other1155] = [await of("ERC721Collection"), await of("ERC1155Collection")];
      for (const [first, second, wrong] of [
        [ZeroAddress, erc1155, ZeroAddress],
        [erc721, ZeroAddress, ZeroAddress],
        [stranger.address, erc1155, stranger.address],
        [erc1155, erc1155, erc1155],
        [erc721, erc721, erc721],
        [erc1155, erc721, erc1155],
        [other721, erc1155, other721],
        [erc721, other1155, other1155],
      ] as const) {
        await expect(factory.deploy(relay.target, first, second))
          .to.be.revertedWithCustomError(factory, "FactoryInvalidImplementation")
          .withArgs(wrong);
      }
    });

    for (const [name, limit] of Object.entries(MAX_CODE_SIZE)) {
      it(`keeps the code of ${name} at or below ${limit.toLocaleString("en-US")} bytes`, async function () {
        // Code instrumented for coverage is larger.
        if (hre.globalOptions.coverage) this.skip();
        const { deployedBytecode } = await hre.artifacts.readArtifact(name);
        expect((deployedBytecode.length - 2) / 2).to.be.at.most(limit);
      });
    }
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
        expect(await collection.relay()).to.equal(relay.target);
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
