import { expect } from "chai";
import { Interface, ZeroAddress } from "ethers";

import {
  decodeCloneArguments,
  encodeErc1155Arguments,
  encodeErc721Arguments,
} from "../../api/chain/codec/clone-arguments.ts";
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
import { emits, expectFailure, failureOf, reverts } from "./support/expect-failure.ts";
import { refusedArguments } from "./support/refused-arguments.ts";

const BASE = {
  hosted: true,
  soulbound: false,
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
        await reverts(factory.deploy(relay, ...implementations), factory, "FactoryInvalidRelay", relay);
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
        await reverts(factory.deploy(relay.target, first, second), factory, "FactoryInvalidImplementation", wrong);
      }
    });
  });

  for (const [kind, create, predict, args] of [
    ["ERC721", "createERC721", "predictERC721", encodeErc721Arguments({ ...BASE, maxSupply: 9n })],
    ["ERC1155", "createERC1155", "predictERC1155", encodeErc1155Arguments(BASE)],
  ] as const) {
    describe(create, () => {
      it(`creates an ${kind} collection once, at the predicted address of its number, arguments and kind`, async () => {
        const { factory, relay } = await setUp();
        const number = nextNumber();
        const predicted = await factory[predict](number, args);
        expect(await ethers.provider.getCode(predicted)).to.equal("0x");
        const creation = { ...(await item(factory, create, args)), number };
        await emits(run(relay, creation), factory, "CollectionCreated", number, predicted);
        const collection = await ethers.getContractAt("IERC1155Collection", predicted);
        expect(await collection.name()).to.equal("Harbour Lights");
        expect(await collection.relay()).to.equal(relay.target);
        await emits(run(relay, creation), relay, "CallSkipped", number);
        const addresses = new Set([
          await factory.predictERC721(number, args),
          await factory.predictERC1155(number, args),
          await factory[predict](number + 1n, args),
          await factory[predict](number, encodeErc1155Arguments({ ...BASE, name: "Other" })),
        ]);
        expect(addresses.size).to.equal(4);
      });

      it("reverts with FactoryUnauthorizedRelay for any other caller", async () => {
        const { factory, admin, stranger } = await setUp();
        for (const caller of [stranger, admin])
          await reverts(factory.connect(caller)[create](args), factory, "FactoryUnauthorizedRelay", caller.address);
      });

      it("fails for truncated arguments and for too long ones", async () => {
        const { factory, relay } = await setUp();
        const errors = await ethers.getContractAt("CloneArguments", factory.target);
        const length = (args.length - 2) / 2;
        const cut = await failureOf(relay, await item(factory, create, ethers.dataSlice(args, 0, length - 1)), errors);
        expect([cut.name, ...cut.args]).to.deep.equal(["CloneArgumentsTruncated", BigInt(length - 1), BigInt(length)]);
        for (const short of ["0x", "0x01", "0x0f", "0x000000"]) {
          const error = await failureOf(relay, await item(factory, create, short), errors);
          expect(error.name, short).to.equal("CloneArgumentsTruncated");
        }
        const clones = { interface: new ethers.Interface(["error CloneArgumentsTooLong()"]) };
        const long = ethers.concat(["0x00000000000000", new Uint8Array(24_576 - 45 - 6)]);
        const call = { ...(await item(factory, create, long)), gasLimit: 8_000_000n };
        await expectFailure(relay, call, clones, "CloneArgumentsTooLong");
      });

      it("fails for the relay as owner, and for arguments that cannot work or are a second encoding", async () => {
        const { factory, relay } = await setUp();
        const owner = await relay.getAddress();
        const encode = kind === "ERC721" ? encodeErc721Arguments : encodeErc1155Arguments;
        const call = await item(factory, create, encode({ ...BASE, maxSupply: 0n, owner }));
        await expectFailure(relay, call, factory, "OwnableInvalidOwner", owner);
        const errors = await ethers.getContractAt("CloneArguments", factory.target);
        for (const [what, packed, error, values] of refusedArguments(kind)) {
          await expectFailure(relay, await item(factory, create, packed), errors, error, ...values);
          expect(() => decodeCloneArguments(kind, packed), what).to.throw(RangeError);
        }
      });
    });
  }

  it("given an attacker who calls every function: changes nothing of a clone or an implementation for a stranger", async () => {
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
