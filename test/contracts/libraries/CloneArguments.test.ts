import { expect } from "chai";
import { ZeroAddress } from "ethers";
import fc from "fast-check";

import {
  CloneArgumentsError,
  encodeErc1155Arguments,
  encodeErc721Arguments,
  MAX_CLONE_ARGUMENTS_LENGTH,
  MAX_MAX_SUPPLY,
  type Erc721Arguments,
} from "../../../api/chain/codec/clone-arguments.ts";
import {
  createErc721,
  deploySystem,
  ethers,
  IN_AMSTERDAM,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "../support/deploy.ts";
import { shortOrLong } from "../support/runs.ts";

const SELF_HOSTED: Erc721Arguments = {
  hosted: false,
  soulbound: false,
  name: "N",
  symbol: "S",
  owner: null,
  maxSupply: 0n,
  royaltyBps: 0,
  royaltyRecipient: null,
  baseUri: "b",
  contractUri: "c",
};

describe("CloneArguments", () => {
  const setUp = () => networkHelpers.loadFixture(deploySystem);

  it("given any valid values: returns them unchanged from the contract", async () => {
    const system = await setUp();
    const address = fc
      .uint8Array({ minLength: 20, maxLength: 20 })
      .map((bytes) => ethers.getAddress(ethers.hexlify(bytes)));
    const text = fc.string({ unit: "binary", maxLength: 300 });
    const values = fc.record({
      hosted: fc.boolean(),
      soulbound: fc.boolean(),
      name: text,
      symbol: text,
      owner: fc.option(address.filter((value) => value !== ZeroAddress)),
      maxSupply: fc.oneof(fc.constant(0n), fc.bigInt({ min: 1n, max: MAX_MAX_SUPPLY })),
      royaltyBps: fc.oneof(fc.constant(10_000), fc.integer({ min: 0, max: 10_000 })),
      royaltyRecipient: address.filter((value) => value !== ZeroAddress),
      baseUri: text,
      contractUri: text,
    });
    await fc.assert(
      fc.asyncProperty(values, async (args) => {
        const collection = await createErc721(system, args);
        await run(system.relay, await item(collection, "mintToWallet", system.alice.address));
        expect(await collection.name()).to.equal(args.name);
        expect(await collection.symbol()).to.equal(args.symbol);
        expect(await collection.owner()).to.equal(args.owner ?? system.admin.address);
        expect(await collection.maxSupply()).to.equal(args.maxSupply);
        expect(await collection.hosted()).to.equal(args.hosted);
        expect(await collection.isSoulbound()).to.equal(args.soulbound);
        const recipient = args.royaltyBps === 0 ? ZeroAddress : args.royaltyRecipient;
        expect([...(await collection.royaltyInfo(1n, 10_000n))]).to.deep.equal([recipient, BigInt(args.royaltyBps)]);
        if (!args.hosted) {
          expect(await collection.contractURI()).to.equal(args.contractUri);
          expect(await collection.tokenURI(1n)).to.equal(args.baseUri === "" ? "" : `${args.baseUri}1`);
        }
      }),
      { numRuns: shortOrLong(10, 40) },
    );
  }).timeout(60_000);

  describe("given arguments of the maximum size", () => {
    async function createLarge(system: Awaited<ReturnType<typeof setUp>>, args: Erc721Arguments) {
      const packed = encodeErc721Arguments(args);
      expect((packed.length - 2) / 2).to.equal(MAX_CLONE_ARGUMENTS_LENGTH);
      const number = nextNumber();
      const address = await system.factory.predictERC721(number, packed);
      const creation = await item(system.factory, "createERC721", packed);
      const gasLimit = IN_AMSTERDAM ? 50_000_000n : 12_000_000n;
      await expect(run(system.relay, { ...creation, number, gasLimit }))
        .to.emit(system.factory, "CollectionCreated")
        .withArgs(number, address);
      return ethers.getContractAt("ERC721Collection", address);
    }

    it("creates a working collection, and fails with one more byte", async () => {
      const system = await setUp();
      const room = MAX_CLONE_ARGUMENTS_LENGTH - 1 - 6 - 2;
      const contractUri = `é${"u".repeat(room - 3)}`;
      const args = { ...SELF_HOSTED, contractUri, baseUri: "b" };
      const collection = await createLarge(system, args);
      expect(await collection.contractURI()).to.equal(contractUri);
      await run(system.relay, await item(collection, "mint", system.alice.address));
      expect(await collection.ownerOf(1n)).to.equal(system.alice.address);

      for (const encode of [encodeErc721Arguments, encodeErc1155Arguments]) {
        expect(() => encode({ ...args, name: "NN" })).to.throw(CloneArgumentsError, "24532 bytes together");
      }
    });

    it("can use all bytes for the name, the symbol or the base URI", async () => {
      const system = await setUp();
      for (const part of ["name", "symbol", "baseUri"] as const) {
        const args = { ...SELF_HOSTED, [part]: "x".repeat(MAX_CLONE_ARGUMENTS_LENGTH - 1 - 6 - 3) };
        const collection = await createLarge(system, args);
        const found = [await collection.name(), await collection.symbol(), await collection.contractURI()];
        expect(found).to.deep.equal([args.name, args.symbol, args.contractUri]);
      }
    });
  });

  it("cannot be encoded from invalid values", () => {
    const nobody = { royaltyRecipient: ZeroAddress };
    for (const [change, message] of [
      [{ royaltyBps: 10_001, ...nobody }, "must be 0 to 10,000 basis points"],
      [{ royaltyBps: -1, ...nobody }, "must be 0 to 10,000 basis points"],
      [{ royaltyBps: 0.5, ...nobody }, "must be 0 to 10,000 basis points"],
      [{ royaltyBps: 1 }, "needs a recipient"],
      [{ royaltyBps: 1, ...nobody }, "needs a recipient"],
      [{ owner: ZeroAddress }, "cannot be the zero address"],
      [{ maxSupply: -1n }, "must be 0 to 18446744073709551614"],
      [{ maxSupply: MAX_MAX_SUPPLY + 1n }, "must be 0 to 18446744073709551614"],
    ] as const)
      expect(() => encodeErc721Arguments({ ...SELF_HOSTED, ...change })).to.throw(CloneArgumentsError, message);
  });
});
