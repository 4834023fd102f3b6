import { expect } from "chai";
import { MaxUint256, ZeroAddress, ZeroHash, type BaseWallet } from "ethers";

import { transferAuthorizationDigest } from "../../../api/chain/typed-data.ts";
import type { ICollection } from "../../../types/ethers-contracts/index.js";
import {
  createErc1155,
  createErc721,
  deploySystem,
  ethers,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "../support/deploy.ts";
import { CHAIN_ID, newWallet, signDigest, signTransfer, type CompactSignature } from "../support/sign.ts";

interface Transfer {
  readonly from: string;
  readonly to: string;
  readonly tokenId: bigint;
  readonly amount: bigint;
  readonly number: bigint;
}

/** The order of the curve; a signature's other half is this minus it. */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

async function deployErc721Pair() {
  const system = await deploySystem();
  const wallet = newWallet();
  const collections = [await createErc721(system), await createErc721(system)] as const;
  for (const collection of collections) await run(system.relay, await item(collection, "mint", wallet.address));
  const holds = async (index: 0 | 1, address: string) => (await collections[index].ownerOf(1n)) === address;
  const giveBack = () => collections[0].connect(system.bob).transferFrom(system.bob.address, wallet.address, 1n);
  const transferItem = async (index: 0 | 1, t: Transfer, s: CompactSignature) => ({
    ...(await item(collections[index], "transferWithAuthorization", t.from, t.to, t.tokenId, s.r, s.vs)),
    number: t.number,
  });
  const pair = collections as unknown as readonly [ICollection, ICollection];
  return { ...system, wallet, collections: pair, holds, giveBack, transferItem };
}

async function deployErc1155Pair() {
  const system = await deploySystem();
  const wallet = newWallet();
  const collections = [await createErc1155(system), await createErc1155(system)] as const;
  for (const collection of collections) {
    await run(system.relay, await item(collection, "create", wallet.address, 1n, 1n, ""));
  }
  const holds = async (index: 0 | 1, address: string) => (await collections[index].balanceOf(address, 1n)) === 1n;
  const giveBack = () =>
    collections[0].connect(system.bob).safeTransferFrom(system.bob.address, wallet.address, 1n, 1n, "0x");
  const transferItem = async (index: 0 | 1, t: Transfer, s: CompactSignature) => ({
    ...(await item(collections[index], "transferWithAuthorization", t.from, t.to, t.tokenId, t.amount, s.r, s.vs)),
    number: t.number,
  });
  const pair = collections as unknown as readonly [ICollection, ICollection];
  return { ...system, wallet, collections: pair, holds, giveBack, transferItem };
}

for (const { kind, deploy } of [
  { kind: "ERC721Collection", deploy: deployErc721Pair },
  { kind: "ERC1155Collection", deploy: deployErc1155Pair },
]) {
  describe(`${kind}: authorizations`, () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture(deploy);
      const { relay, collections, wallet, bob, transferItem, holds } = system;
      const address = await collections[0].getAddress();
      const intent = (): Transfer => ({
        from: wallet.address,
        to: bob.address,
        tokenId: 1n,
        amount: 1n,
        number: nextNumber(),
      });
      const sign = (transfer: Transfer, signer: BaseWallet = wallet, chainId = CHAIN_ID) =>
        signTransfer(signer, address, transfer, chainId);

      /** Sends the transfer and expects it to be refused, whoever the signature seems to come from. */
      async function expectRefused(transfer: Transfer, signature: CompactSignature, signer?: string, index: 0 | 1 = 0) {
        const receipt = await (await run(relay, await transferItem(index, transfer, signature))).wait();
        const failure = receipt!.logs.map((log) => relay.interface.parseLog(log)).find((e) => e?.name === "CallFailed");
        expect(failure?.args["number"]).to.equal(transfer.number);
        const error = collections[index].interface.parseError(failure!.args["reason"] as string);
        expect(error?.name).to.equal("CollectionInvalidAuthorization");
        expect([error!.args[0], error!.args[2]]).to.deep.equal([transfer.from, transfer.number]);
        if (signer !== undefined) expect(error!.args[1]).to.equal(signer);
        else expect(error!.args[1]).not.to.equal(transfer.from);
        expect(await holds(index, wallet.address)).to.equal(true);
      }

      return { ...system, address, intent, sign, expectRefused };
    }

    describe("given the wallet's signature", () => {
      it("moves the token once", async () => {
        const { relay, intent, sign, transferItem, holds, bob } = await setUp();
        const transfer = intent();
        await expect(run(relay, await transferItem(0, transfer, sign(transfer)))).not.to.emit(relay, "CallFailed");
        expect(await holds(0, bob.address)).to.equal(true);
      });

      it("moves it from a wallet that delegated its code too", async () => {
        const { relay, delegate, intent, sign, transferItem, holds, wallet, bob } = await setUp();
        await networkHelpers.setCode(wallet.address, ethers.concat(["0xef0100", await delegate.getAddress()]));
        const transfer = intent();
        await expect(run(relay, await transferItem(0, transfer, sign(transfer)))).not.to.emit(relay, "CallFailed");
        expect(await holds(0, bob.address)).to.equal(true);
      });
    });

    describe("given a caller other than the relay", () => {
      it("reverts, the wallet's own signature notwithstanding", async () => {
        const { collections, intent, sign, transferItem, stranger } = await setUp();
        const transfer = intent();
        const { target, data } = await transferItem(0, transfer, sign(transfer));
        const withNumber = ethers.concat([data, ethers.toBeHex(transfer.number, 32)]);
        await expect(stranger.sendTransaction({ to: target, data: withNumber }))
          .to.be.revertedWithCustomError(collections[0], "CollectionUnauthorizedRelay")
          .withArgs(stranger.address);
      });
    });

    describe("given an authorization that was used", () => {
      it("is skipped under its own number, even after the token came back", async () => {
        const { relay, intent, sign, transferItem, holds, giveBack, wallet } = await setUp();
        const transfer = intent();
        const used = await transferItem(0, transfer, sign(transfer));
        await run(relay, used);
        await giveBack();
        await expect(run(relay, used)).to.emit(relay, "CallSkipped").withArgs(transfer.number);
        expect(await holds(0, wallet.address)).to.equal(true);
      });

      it("is refused under another number", async () => {
        const { intent, sign, expectRefused } = await setUp();
        const transfer = intent();
        await expectRefused({ ...transfer, number: transfer.number + 1n }, sign(transfer));
      });
    });

    describe("given an authorization whose number was cancelled", () => {
      it("is skipped", async () => {
        const { relay, intent, sign, transferItem, holds, wallet } = await setUp();
        const transfer = intent();
        await relay.cancel([transfer.number]);
        await expect(run(relay, await transferItem(0, transfer, sign(transfer))))
          .to.emit(relay, "CallSkipped")
          .withArgs(transfer.number);
        expect(await holds(0, wallet.address)).to.equal(true);
      });
    });

    describe("given a signature over something else", () => {
      it("refuses another receiver, token or amount", async () => {
        const { intent, sign, expectRefused, carol } = await setUp();
        const signed = intent();
        await expectRefused({ ...signed, to: carol.address }, sign(signed));
        for (const change of [{ tokenId: 2n }, { amount: 2n }, { amount: MaxUint256 }, { to: carol.address }]) {
          const transfer = intent();
          await expectRefused(transfer, sign({ ...transfer, ...change }));
        }
      });

      it("refuses one for another collection", async () => {
        const { intent, sign, expectRefused } = await setUp();
        const transfer = intent();
        await expectRefused(transfer, sign(transfer), undefined, 1);
      });

      it("refuses one for another chain", async () => {
        const { intent, sign, expectRefused, wallet } = await setUp();
        for (const chainId of [1n, 0n, 84532n]) {
          const transfer = intent();
          await expectRefused(transfer, sign(transfer, wallet, chainId));
        }
      });

      it("refuses one for the implementation, or with another name or version", async () => {
        const { intent, expectRefused, factory, wallet, address } = await setUp();
        const implementation =
          kind === "ERC721Collection" ? await factory.erc721Implementation() : await factory.erc1155Implementation();
        const transfer = intent();
        const digest = transferAuthorizationDigest(CHAIN_ID, implementation, transfer);
        await expectRefused(transfer, signDigest(wallet, digest));
        const types = { TransferAuthorization: ["from", "to", "tokenId", "amount", "number"].map(field) };
        for (const change of [{ name: "Other" }, { version: "2" }]) {
          const domain = { name: "Moneta", version: "1", chainId: CHAIN_ID, verifyingContract: address, ...change };
          const other = intent();
          await expectRefused(other, signDigest(wallet, ethers.TypedDataEncoder.hash(domain, types, other)));
        }
      });
    });

    describe("given a signature by somebody else", () => {
      it("refuses it, and names who signed", async () => {
        const { intent, sign, expectRefused } = await setUp();
        const other = newWallet();
        const transfer = intent();
        await expectRefused(transfer, sign(transfer, other), other.address);
      });

      it("refuses to take from the zero address", async () => {
        const { relay, intent, transferItem, collections } = await setUp();
        const transfer = { ...intent(), from: ZeroAddress };
        const reason = collections[0].interface.encodeErrorResult("CollectionInvalidAuthorization", [
          ZeroAddress,
          ZeroAddress,
          transfer.number,
        ]);
        await expect(run(relay, await transferItem(0, transfer, { r: ZeroHash, vs: ZeroHash })))
          .to.emit(relay, "CallFailed")
          .withArgs(transfer.number, reason);
      });
    });

    describe("given a malformed signature", () => {
      it("refuses zeros, ones, and the malleable twin", async () => {
        const { intent, sign, expectRefused } = await setUp();
        const ones = `0x${"ff".repeat(32)}`;
        await expectRefused(intent(), { r: ZeroHash, vs: ZeroHash }, ZeroAddress);
        await expectRefused(intent(), { r: ones, vs: ones }, ZeroAddress);

        // The twin has the other half of s and the other parity; ERC-2098 leaves no room for it, so it must not pass
        // with its highest bit cut off either.
        const transfer = intent();
        const { r, vs } = sign(transfer);
        const parity = BigInt(vs) >> 255n;
        const s = BigInt(vs) & (2n ** 255n - 1n);
        const twin = (CURVE_ORDER - s) & (2n ** 255n - 1n);
        await expectRefused(transfer, { r, vs: ethers.toBeHex(twin | ((1n - parity) << 255n), 32) });
        const again = { ...transfer, number: nextNumber() };
        const flipped = sign(again);
        await expectRefused(again, { r: flipped.r, vs: ethers.toBeHex(BigInt(flipped.vs) ^ (1n << 255n), 32) });
        const high = { ...transfer, number: nextNumber() };
        const largest = 2n ** 255n - 1n;
        await expectRefused(high, { r: sign(high).r, vs: ethers.toBeHex(largest, 32) }, ZeroAddress);
      });
    });

    describe("eip712Domain", () => {
      it("is the collection's own, also behind the clone", async () => {
        const { address } = await setUp();
        const domain = await (await ethers.getContractAt("CollectionAuthorizations", address)).eip712Domain();
        expect([...domain].slice(0, 5)).to.deep.equal(["0x0f", "Moneta", "1", CHAIN_ID, address]);
      });
    });
  });
}

function field(name: string) {
  return { name, type: name === "from" || name === "to" ? "address" : "uint256" };
}
