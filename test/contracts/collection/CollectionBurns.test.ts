import { expect } from "chai";
import { type BaseWallet, ZeroAddress } from "ethers";

import {
  createErc1155,
  createErc721,
  deploySystemWith,
  describeStorages,
  ethers,
  fixtures,
  type Item,
  item,
  networkHelpers,
  nextNumber,
  run,
  signerOf,
} from "../support/deploy.ts";
import { emits, expectFailure, failureOf, reverts } from "../support/expect-failure.ts";
import { type CompactSignature, newWallet, signBurn, signTransfer } from "../support/sign.ts";
import { deployErc1155Pair, deployErc721Pair, type Burn } from "./authorization-pairs.ts";

const ERC721 = fixtures(deployErc721Pair);

for (const { kind, deploy, single } of [
  { kind: "ERC721Collection", deploy: ERC721.standard, single: true },
  { kind: "CompactERC721Collection", deploy: ERC721.compact, single: true },
  { kind: "CompactERC721Collection with a weak hash", deploy: ERC721.weak, single: true },
  { kind: "ERC1155Collection", deploy: deployErc1155Pair, single: false },
]) {
  describe(`${kind}: burnWithAuthorization`, () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture<Awaited<ReturnType<typeof deployErc721Pair>>>(deploy);
      const { relay, collections, wallet, burnItem, holds } = system;
      const [collection] = collections;
      const address = await collection.getAddress();
      const intent = (): Burn => ({ from: wallet.address, tokenId: 1n, amount: 1n, number: nextNumber() });
      const sign = (burn: Burn, signer: BaseWallet = wallet) => signBurn(signer, address, burn);

      /** Sends the item and asserts that it fails with the error of the collection. */
      async function expectFailed(call: Item, name: string, args?: unknown[]) {
        const errors = await ethers.getContractAt(single ? "ERC721Collection" : "ERC1155Collection", address);
        const error = await failureOf(relay, call, errors);
        expect(error.name).to.equal(name);
        if (args !== undefined) expect([...error.args]).to.deep.equal(args);
      }
      const expectRefused = async (burn: Burn, signature: CompactSignature) => {
        await expectFailed(await burnItem(0, burn, signature), "CollectionInvalidAuthorization");
        expect(await holds(0, wallet.address)).to.equal(true);
      };
      return { ...system, collection, address, intent, sign, expectFailed, expectRefused };
    }

    it("fails for a transfer's signature, and a transfer fails with a burn's", async () => {
      const { intent, sign, transferItem, expectFailed, expectRefused, wallet, bob, address } = await setUp();
      for (const to of [bob.address, ZeroAddress]) {
        const burn = intent();
        await expectRefused(burn, signTransfer(wallet, address, { ...burn, to }));
        const transfer = { ...intent(), to };
        await expectFailed(await transferItem(0, transfer, sign(transfer)), "CollectionInvalidAuthorization");
      }
    });

    it("given an account that the holder approved: fails with the account's signature, whoever is named as the holder", async () => {
      const { collection, intent, sign, burnItem, expectFailed, expectRefused, holds, wallet } = await setUp();
      const approved = newWallet();
      const holder = await signerOf(wallet.address);
      const approvals = await ethers.getContractAt("ERC721Collection", collection.target, holder);
      await approvals.setApprovalForAll(approved.address, true);
      if (single) await approvals.approve(approved.address, 1n);

      const burn = intent();
      await expectRefused(burn, sign(burn, approved));
      const own = { ...intent(), from: approved.address };
      const call = await burnItem(0, own, sign(own, approved));
      if (single) await expectFailed(call, "ERC721IncorrectOwner", [approved.address, 1n, wallet.address]);
      else await expectFailed(call, "ERC1155InsufficientBalance", [approved.address, 0n, 1n, 1n]);
      expect(await holds(0, wallet.address)).to.equal(true);
    });

    describe("given the wallet does not hold the token any more", () => {
      it("fails, also if nobody does", async () => {
        const { relay, intent, sign, burnItem, transferItem, expectFailed, wallet, bob, address } = await setUp();
        const transfer = { ...intent(), to: bob.address };
        await run(relay, await transferItem(0, transfer, signTransfer(wallet, address, transfer)));
        const late = intent();
        const call = await burnItem(0, late, sign(late));
        if (single) await expectFailed(call, "ERC721IncorrectOwner", [wallet.address, 1n, bob.address]);
        else await expectFailed(call, "ERC1155InsufficientBalance", [wallet.address, 0n, 1n, 1n]);
        const missing = { ...intent(), tokenId: 99n };
        const other = await burnItem(0, missing, sign(missing));
        if (single) await expectFailed(other, "ERC721NonexistentToken", [99n]);
        else await expectFailed(other, "ERC1155InsufficientBalance", [wallet.address, 0n, 1n, 99n]);
      });

      it("fails for the second of two burns, and of a burn and a transfer, in one batch", async () => {
        const { relay, intent, sign, burnItem, transferItem, another, wallet, bob, address, supply } = await setUp();
        const [first, second] = [intent(), intent()];
        await expect(run(relay, await burnItem(0, first, sign(first)), await burnItem(0, second, sign(second))))
          .to.emit(relay, "CallFailed")
          .withArgs(second.number, (reason: string) => reason.length > 10);
        expect(await supply()).to.equal(0n);
        await another(wallet.address);
        const tokenId = single ? 2n : 1n;
        const [burn, transfer] = [
          { ...intent(), tokenId },
          { ...intent(), tokenId, to: bob.address },
        ];
        const moved = await transferItem(0, transfer, signTransfer(wallet, address, transfer));
        await expect(run(relay, await burnItem(0, burn, sign(burn)), moved))
          .to.emit(relay, "CallFailed")
          .withArgs(transfer.number, (reason: string) => reason.length > 10);
        expect(await supply()).to.equal(0n);
      });
    });
  });
}

describeStorages("burnWithAuthorization of an ERC721Collection", (storage) => {
  async function deploy() {
    const system = await deploySystemWith(storage);
    const wallet = newWallet();
    const capped = await createErc721(system, { maxSupply: 2n });
    const soulbound = await createErc721(system, { soulbound: true });
    for (const collection of [capped, soulbound])
      await run(system.relay, await item(collection, "mintToWallet", wallet.address));
    const burn = async (collection: typeof capped, tokenId: bigint) => {
      const number = nextNumber();
      const authorization = { from: wallet.address, tokenId, amount: 1n, number };
      const { r, vs } = signBurn(wallet, await collection.getAddress(), authorization);
      return { ...(await item(collection, "burnWithAuthorization", wallet.address, tokenId, r, vs)), number };
    };
    return { ...system, wallet, capped, soulbound, burn };
  }
  const setUp = () => networkHelpers.loadFixture(deploy);

  it("never frees an id or a place under the supply cap, and clears the approval, but not a neighbour", async () => {
    const { relay, capped, burn, wallet, bob } = await setUp();
    await capped.connect(await signerOf(wallet.address)).approve(bob.address, 1n);
    const mint = await item(capped, "mintToWallet", wallet.address);
    await run(relay, await burn(capped, 1n), mint);
    await reverts(capped.getApproved(1n), capped, "ERC721NonexistentToken", 1n);
    expect([await capped.ownerOf(2n), await capped.balanceOf(wallet.address)]).to.deep.equal([wallet.address, 1n]);
    expect([await capped.totalMinted(), await capped.totalSupply()]).to.deep.equal([2n, 1n]);
    const number = nextNumber();
    const exceeded = capped.interface.encodeErrorResult("ERC721ExceededMaxSupply", [2n]);
    await emits(run(relay, await burn(capped, 2n), { ...mint, number }), relay, "CallFailed", number, exceeded);
    expect([await capped.totalMinted(), await capped.totalSupply()]).to.deep.equal([2n, 0n]);
  });

  it("burns a soulbound token", async () => {
    const { relay, soulbound, burn } = await setUp();
    await expect(run(relay, await burn(soulbound, 1n))).not.to.emit(relay, "CallFailed");
    expect(await soulbound.totalSupply()).to.equal(0n);
  });
});

describe("burnWithAuthorization of an ERC1155Collection", () => {
  async function deploy() {
    const system = await deploySystemWith("standard");
    const wallet = newWallet();
    const collection = await createErc1155(system, { soulbound: true });
    await run(system.relay, await item(collection, "create", wallet.address, 7n, 10n, ""));
    const burn = async (amount: bigint) => {
      const number = nextNumber();
      const authorization = { from: wallet.address, tokenId: 7n, amount, number };
      const { r, vs } = signBurn(wallet, await collection.getAddress(), authorization);
      return { ...(await item(collection, "burnWithAuthorization", wallet.address, 7n, amount, r, vs)), number };
    };
    return { ...system, wallet, collection, burn };
  }

  it("burns some copies, then all, of a soulbound id, which is never created again", async () => {
    const { relay, collection, burn, wallet } = await networkHelpers.loadFixture(deploy);
    await run(relay, await burn(4n));
    expect([await collection.totalSupply(7n), await collection.balanceOf(wallet.address, 7n)]).to.deep.equal([6n, 6n]);
    await run(relay, await burn(6n));
    expect([await collection.totalSupply(7n), await collection.exists(7n)]).to.deep.equal([0n, true]);
    const again = await item(collection, "create", wallet.address, 7n, 1n, "");
    await expectFailure(relay, again, collection, "ERC1155AlreadyCreated", 7n);
  });

  it("calls no code of the holder, so there is nothing to re-enter", async () => {
    const { relay, collection, burn, wallet } = await networkHelpers.loadFixture(deploy);
    const receiver = await ethers.deployContract("ProgrammableReceiver");
    await receiver.programCall(
      collection.target,
      collection.interface.encodeFunctionData("burn", [wallet.address, 7n, 6n]),
    );
    await networkHelpers.setCode(wallet.address, ethers.concat(["0xef0100", await receiver.getAddress()]));
    await run(relay, await burn(4n));
    expect(await collection.totalSupply(7n)).to.equal(6n);
  });
});
