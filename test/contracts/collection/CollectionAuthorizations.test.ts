import { expect } from "chai";
import { MaxUint256, ZeroAddress, ZeroHash, type BaseWallet } from "ethers";

import { ethers, fixtures, networkHelpers, nextNumber, run } from "../support/deploy.ts";
import { emits, expectFailure, failureOf, reverts } from "../support/expect-failure.ts";
import { CHAIN_ID, newWallet, signDigest, signTransfer, type CompactSignature } from "../support/sign.ts";
import { deployErc1155Pair, deployErc721Pair, type Transfer } from "./authorization-pairs.ts";

/** The order of the curve. A signature with s replaced by this minus s is valid too (malleability). */
const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const ERC721 = fixtures(deployErc721Pair);

for (const { kind, deploy } of [
  { kind: "ERC721Collection", deploy: ERC721.standard },
  { kind: "CompactERC721Collection", deploy: ERC721.compact },
  { kind: "CompactERC721Collection with a weak hash", deploy: ERC721.weak },
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

      /** Sends the transfer and asserts that it fails with CollectionInvalidAuthorization. */
      async function expectRefused(transfer: Transfer, signature: CompactSignature, signer?: string, index: 0 | 1 = 0) {
        const error = await failureOf(relay, await transferItem(index, transfer, signature), collections[index]);
        expect(error.name).to.equal("CollectionInvalidAuthorization");
        expect([error.args[0], error.args[2]]).to.deep.equal([transfer.from, transfer.number]);
        if (signer !== undefined) expect(error.args[1]).to.equal(signer);
        else expect(error.args[1]).not.to.equal(transfer.from);
        expect(await holds(index, wallet.address)).to.equal(true);
      }

      return { ...system, address, intent, sign, expectRefused };
    }

    it("given the wallet's signature: moves the token, also of a wallet that delegated its code (EIP-7702)", async () => {
      const { collections, relay, delegate, intent, sign, transferItem, holds, giveBack, wallet, bob } = await setUp();
      const transfer = intent();
      const sent = run(relay, await transferItem(0, transfer, sign(transfer)));
      await expect(sent).not.to.emit(relay, "CallFailed");
      if (kind.includes("ERC721"))
        await emits(sent, collections[0], "Transfer", transfer.from, bob.address, transfer.tokenId);
      expect(await holds(0, bob.address)).to.equal(true);
      await giveBack();
      await networkHelpers.setCode(wallet.address, ethers.concat(["0xef0100", await delegate.getAddress()]));
      const second = intent();
      await expect(run(relay, await transferItem(0, second, sign(second)))).not.to.emit(relay, "CallFailed");
      expect(await holds(0, bob.address)).to.equal(true);
    });

    it("reverts with CollectionUnauthorizedRelay for another caller than the relay, even with the signature", async () => {
      const { collections, intent, sign, transferItem, stranger } = await setUp();
      const transfer = intent();
      const { target, data } = await transferItem(0, transfer, sign(transfer));
      const withNumber = ethers.concat([data, ethers.toBeHex(transfer.number, 32)]);
      const sent = stranger.sendTransaction({ to: target, data: withNumber });
      await reverts(sent, collections[0], "CollectionUnauthorizedRelay", stranger.address);
    });

    it("given a used or cancelled authorization: is skipped, even if the token came back, and fails under another number", async () => {
      const { relay, intent, sign, transferItem, holds, giveBack, expectRefused, wallet } = await setUp();
      const [transfer, cancelled] = [intent(), intent()];
      const used = await transferItem(0, transfer, sign(transfer));
      await run(relay, used);
      await giveBack();
      await relay.cancel([cancelled.number]);
      const calls = [used, await transferItem(0, cancelled, sign(cancelled))];
      for (const call of calls) await emits(run(relay, call), relay, "CallSkipped", call.number);
      expect(await holds(0, wallet.address)).to.equal(true);
      await expectRefused({ ...transfer, number: nextNumber() }, sign(transfer));
    });

    it("given a signature of other data: fails for another receiver, token, amount, collection or chain", async () => {
      const { intent, sign, expectRefused, wallet, carol } = await setUp();
      const signed = intent();
      await expectRefused({ ...signed, to: carol.address }, sign(signed));
      for (const change of [{ tokenId: 2n }, { amount: 2n }, { amount: MaxUint256 }, { to: carol.address }]) {
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
      const types = { TransferAuthorization: ["from", "to", "tokenId", "amount", "number"].map(field) };
      for (const change of [{ verifyingContract: implementation }, { name: "Other" }, { version: "2" }]) {
        const other = { name: "Moneta", version: "1", chainId: CHAIN_ID, verifyingContract: address, ...change };
        const transfer = intent();
        await expectRefused(transfer, signDigest(wallet, ethers.TypedDataEncoder.hash(other, types, transfer)));
      }
    });

    it("given a signature of another account: fails and names the signer, also for the zero address as the wallet", async () => {
      const { relay, intent, sign, expectRefused, transferItem, collections } = await setUp();
      const other = newWallet();
      const transfer = intent();
      await expectRefused(transfer, sign(transfer, other), other.address);
      const ofNobody = { ...intent(), from: ZeroAddress };
      const call = await transferItem(0, ofNobody, { r: ZeroHash, vs: ZeroHash });
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
