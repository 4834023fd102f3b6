import { expect } from "chai";
import { MaxUint256, ZeroAddress, ZeroHash, type BaseWallet } from "ethers";

import { ethers, fixtures, networkHelpers, nextNumber, run } from "../support/deploy.ts";
import { emits, expectFailure, failureOf, reverts } from "../support/expect-failure.ts";
import { CHAIN_ID, newWallet, signBurn, signDigest, signTransfer, type CompactSignature } from "../support/sign.ts";
import { deployErc1155Pair, deployErc721Pair, type Transfer } from "./authorization-pairs.ts";

/** The order of the curve. A signature with s replaced by this minus s is valid too (malleability). */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const ERC721 = fixtures(deployErc721Pair);
const KINDS = [
  { kind: "ERC721Collection", deploy: ERC721.standard },
  { kind: "CompactERC721Collection", deploy: ERC721.compact },
  { kind: "CompactERC721Collection with a weak hash", deploy: ERC721.weak },
  { kind: "ERC1155Collection", deploy: deployErc1155Pair },
];

for (const { kind, deploy, burns } of KINDS.flatMap((one) => [
  { ...one, burns: false },
  { ...one, burns: true },
])) {
  describe(`${kind}: authorizations of ${burns ? "burns" : "transfers"}`, () => {
    async function setUp() {
      const system = await networkHelpers.loadFixture<Awaited<ReturnType<typeof deployErc721Pair>>>(deploy);
      const { relay, collections, wallet, bob, transferItem, burnItem, another, giveBack, holds, supply } = system;
      const address = await collections[0].getAddress();
      const intent = (tokenId = 1n): Transfer => ({
        ...{ from: wallet.address, to: bob.address, tokenId, amount: 1n },
        number: nextNumber(),
      });
      const sign = (transfer: Transfer, signer: BaseWallet = wallet, chainId = CHAIN_ID) =>
        burns ? signBurn(signer, address, transfer, chainId) : signTransfer(signer, address, transfer, chainId);
      const itemOf = burns ? burnItem : transferItem;
      /** The wallet gets a token again after the first one is gone. @returns the id of that token. */
      const again = async () => {
        await (burns ? another(wallet.address) : giveBack());
        return burns && kind.includes("ERC721") ? 2n : 1n;
      };
      const isGone = async () => (burns ? (await supply()) === 0n : holds(0, bob.address));

      /** Sends the item and asserts that it fails with CollectionInvalidAuthorization. */
      async function expectRefused(transfer: Transfer, signature: CompactSignature, signer?: string, index: 0 | 1 = 0) {
        const error = await failureOf(relay, await itemOf(index, transfer, signature), collections[index]);
        expect(error.name).to.equal("CollectionInvalidAuthorization");
        expect([error.args[0], error.args[2]]).to.deep.equal([transfer.from, transfer.number]);
        if (signer !== undefined) expect(error.args[1]).to.equal(signer);
        else expect(error.args[1]).not.to.equal(transfer.from);
        expect(await holds(index, wallet.address)).to.equal(true);
      }

      return { ...system, address, intent, sign, itemOf, again, isGone, expectRefused };
    }

    it("given the wallet's signature: moves or burns the token, also of a wallet that delegated its code (EIP-7702)", async () => {
      const { address, relay, delegate, intent, sign, itemOf, again, isGone, wallet, bob } = await setUp();
      const transfer = intent();
      const sent = run(relay, await itemOf(0, transfer, sign(transfer)));
      await expect(sent).not.to.emit(relay, "CallFailed");
      const [from, to] = [wallet.address, burns ? ZeroAddress : bob.address];
      if (kind.includes("ERC721"))
        await emits(sent, await ethers.getContractAt("ERC721Collection", address), "Transfer", from, to, 1n);
      else {
        const copies = await ethers.getContractAt("ERC1155Collection", address);
        await emits(sent, copies, "TransferSingle", relay.target, from, to, 1n, 1n);
      }
      expect(await isGone()).to.equal(true);
      const second = intent(await again());
      await networkHelpers.setCode(wallet.address, ethers.concat(["0xef0100", await delegate.getAddress()]));
      await expect(run(relay, await itemOf(0, second, sign(second)))).not.to.emit(relay, "CallFailed");
      expect(await isGone()).to.equal(true);
    });

    it("reverts with CollectionUnauthorizedRelay for another caller than the relay, even with the signature", async () => {
      const { collections, intent, sign, itemOf, stranger } = await setUp();
      const transfer = intent();
      const { target, data } = await itemOf(0, transfer, sign(transfer));
      const withNumber = ethers.concat([data, ethers.toBeHex(transfer.number, 32)]);
      const sent = stranger.sendTransaction({ to: target, data: withNumber });
      await reverts(sent, collections[0], "CollectionUnauthorizedRelay", stranger.address);
    });

    it("given a used or cancelled authorization: is skipped, even if the token came back, and fails under another number", async () => {
      const { relay, intent, sign, itemOf, again, isGone, expectRefused } = await setUp();
      const [transfer, cancelled] = [intent(), intent()];
      await expectRefused({ ...transfer, number: nextNumber() }, sign(transfer));
      const used = await itemOf(0, transfer, sign(transfer));
      await run(relay, used);
      await again();
      await relay.cancel([cancelled.number]);
      for (const call of [used, await itemOf(0, cancelled, sign(cancelled))])
        await emits(run(relay, call), relay, "CallSkipped", call.number);
      expect(await isGone()).to.equal(false);
    });

    it("given a signature of other data: fails for another receiver, token, amount, collection or chain", async () => {
      const { intent, sign, expectRefused, wallet, carol } = await setUp();
      for (const change of [
        ...[{ tokenId: 2n }, { amount: 2n }, { amount: MaxUint256 }],
        ...(burns ? [] : [{ to: carol.address }]),
      ]) {
        const transfer = intent();
        await expectRefused(transfer, sign({ ...transfer, ...change }));
      }
      const elsewhere = intent();
      await expectRefused(elsewhere, sign(elsewhere), undefined, 1);
      for (const chainId of [1n, 0n, 84532n]) {
        const transfer = intent();
        await expectRefused(transfer, sign(transfer, wallet, chainId));
      }
    });

    it("given a signature of other data: fails for the implementation's address, or another domain name or version", async () => {
      const { intent, expectRefused, factory, wallet, address } = await setUp();
      const domain = await (await ethers.getContractAt("CollectionAuthorizations", address)).eip712Domain();
      expect([...domain].slice(0, 5)).to.deep.equal(["0x0f", "Moneta", "1", CHAIN_ID, address]);
      const implementation =
        kind === "ERC721Collection" ? await factory.erc721Implementation() : await factory.erc1155Implementation();
      const fields = ["from", ...(burns ? [] : ["to"]), "tokenId", "amount", "number"].map(field);
      const types = { [burns ? "BurnAuthorization" : "TransferAuthorization"]: fields };
      const digestOf = (change: object, transfer: Transfer) => {
        const other = { name: "Moneta", version: "1", chainId: CHAIN_ID, verifyingContract: address, ...change };
        return ethers.TypedDataEncoder.hash(other, types, transfer);
      };
      for (const change of [{ verifyingContract: implementation }, { name: "Other" }, { version: "2" }]) {
        const transfer = intent();
        await expectRefused(transfer, signDigest(wallet, digestOf(change, transfer)));
      }
    });

    it("given a signature of another account: fails and names the signer, also for the zero address as the wallet", async () => {
      const { relay, intent, sign, expectRefused, itemOf, collections } = await setUp();
      const other = newWallet();
      const transfer = intent();
      await expectRefused(transfer, sign(transfer, other), other.address);
      const ofNobody = { ...intent(), from: ZeroAddress };
      const call = await itemOf(0, ofNobody, { r: ZeroHash, vs: ZeroHash });
      const refusal = [ZeroAddress, ZeroAddress, ofNobody.number];
      await expectFailure(relay, call, collections[0], "CollectionInvalidAuthorization", ...refusal);
    });

    it("given a malformed signature: fails for zeros, ones, and the malleable signature", async () => {
      const { intent, sign, expectRefused } = await setUp();
      const ones = `0x${"ff".repeat(32)}`;
      await expectRefused(intent(), { r: ZeroHash, vs: ZeroHash }, ZeroAddress);
      await expectRefused(intent(), { r: ones, vs: ones }, ZeroAddress);

      // The malleable signature has the other s and the other parity. ERC-2098 has no room for a high s, so it must also
      // fail with the highest bit of s cut off.
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
}

function field(name: string) {
  return { name, type: name === "from" || name === "to" ? "address" : "uint256" };
}
