import { expect } from "chai";
import { MaxUint256, ZeroAddress, ZeroHash, type BaseWallet } from "ethers";

import { executionDigest } from "../../api/chain/codec/encode.ts";
import { deploySystem, ethers, item, networkHelpers, nextNumber, run } from "./support/deploy.ts";
import { emits, expectFailure, failureOf, reverts } from "./support/expect-failure.ts";
import { CHAIN_ID, newWallet, signDigest, type CompactSignature } from "./support/sign.ts";

interface Intent {
  readonly target: string;
  readonly data: string;
  readonly number: bigint;
}

async function deployDelegatedWallet() {
  const system = await deploySystem();
  const wallet = newWallet();
  await networkHelpers.setCode(wallet.address, ethers.concat(["0xef0100", await system.delegate.getAddress()]));
  const plain = await ethers.deployContract("PlainERC721");
  const multi = await ethers.deployContract("PlainERC1155");
  await plain.mint(wallet.address, 1n);
  await multi.mint(wallet.address, 7n, 5n);
  const account = await ethers.getContractAt("WalletDelegate", wallet.address);
  return { ...system, wallet, account, plain, multi, relayAddress: await system.relay.getAddress() };
}

describe("WalletDelegate", () => {
  async function setUp() {
    const system = await networkHelpers.loadFixture(deployDelegatedWallet);
    const { account, wallet, plain, bob, relay, relayAddress } = system;
    const intent = async (): Promise<Intent> => ({
      target: await plain.getAddress(),
      data: plain.interface.encodeFunctionData("transferFrom", [wallet.address, bob.address, 1n]),
      number: nextNumber(),
    });
    const sign = (signed: Intent, signer: BaseWallet = wallet, chainId = CHAIN_ID, relayed = relayAddress) =>
      signDigest(signer, executionDigest(chainId, wallet.address, { ...signed, relay: relayed }));
    const deliver = async (sent: Intent, { r, vs }: CompactSignature) => ({
      ...(await item(account, "execute", sent.target, sent.data, r, vs)),
      number: sent.number,
    });
    async function expectRefused(sent: Intent, signature: CompactSignature, signer?: string) {
      const error = await failureOf(relay, await deliver(sent, signature), account);
      expect(error.name).to.equal("DelegateInvalidSignature");
      expect([error.args[0], error.args[2]]).to.deep.equal([wallet.address, sent.number]);
      if (signer !== undefined) expect(error.args[1]).to.equal(signer);
      expect(await plain.ownerOf(1n)).to.equal(wallet.address);
    }
    return { ...system, intent, sign, deliver, expectRefused };
  }

  describe("execute", () => {
    it("calls the target from the wallet, with the wallet's own signature, delivered by the relay", async () => {
      const { plain, multi, wallet, bob, relay, intent, sign, deliver } = await setUp();
      const signed = await intent();
      const moved = run(relay, await deliver(signed, sign(signed)));
      await emits(moved, plain, "Transfer", wallet.address, bob.address, 1n);
      const args = [wallet.address, bob.address, 7n, 2n, "0x"] as const;
      const data = multi.interface.encodeFunctionData("safeTransferFrom", [...args]);
      const copies = { target: await multi.getAddress(), data, number: nextNumber() };
      await run(relay, await deliver(copies, sign(copies)));
      expect(await multi.balanceOf(bob.address, 7n)).to.equal(2n);
    });

    it("reverts for another caller than the relay, also for the wallet itself", async () => {
      const { account, wallet, intent, sign, deliver, stranger } = await setUp();
      const signed = await intent();
      const { data } = await deliver(signed, sign(signed));
      await networkHelpers.setBalance(wallet.address, 10n ** 18n);
      const withNumber = ethers.concat([data, ethers.toBeHex(signed.number, 32)]);
      for (const caller of [stranger, wallet.connect(ethers.provider)]) {
        const sent = caller.sendTransaction({ to: wallet.address, data: withNumber, gasLimit: 500_000n });
        await reverts(sent, account, "DelegateUnauthorizedRelay", await caller.getAddress());
      }
    });

    it("fails for a signature of another account or of other data", async () => {
      const { intent, sign, expectRefused, multi, wallet, relay, stranger } = await setUp();
      const other = newWallet();
      const signed = await intent();
      await expectRefused(signed, sign(signed, other), other.address);
      for (const change of [
        { number: MaxUint256 },
        { target: await multi.getAddress() },
        { data: "0x12345678" },
        { data: "0x" },
      ]) {
        const sent = await intent();
        await expectRefused(sent, sign({ ...sent, ...change }));
      }
      const forOtherChain = await intent();
      await expectRefused(forOtherChain, sign(forOtherChain, wallet, 1n));
      const forOtherRelay = await intent();
      await expectRefused(forOtherRelay, sign(forOtherRelay, wallet, CHAIN_ID, stranger.address));
      const zero = await intent();
      await expectRefused(zero, { r: ZeroHash, vs: ZeroHash }, ZeroAddress);
      expect(await relay.isConsumed(zero.number)).to.equal(true);
    });

    it("cannot run again, even if the token came back", async () => {
      const { plain, wallet, bob, relay, intent, sign, deliver, expectRefused } = await setUp();
      const signed = await intent();
      const signature = sign(signed);
      await run(relay, await deliver(signed, signature));
      await plain.connect(bob).transferFrom(bob.address, wallet.address, 1n);
      await emits(run(relay, await deliver(signed, signature)), relay, "CallSkipped", signed.number);
      await expectRefused({ ...signed, number: nextNumber() }, signature);
    });

    it("reverts with the data of the call, and for a target without code", async () => {
      const { plain, wallet, relay, sign, deliver, stranger } = await setUp();
      const rejecting = await ethers.deployContract("RejectingReceiver");
      const fragment = "safeTransferFrom(address,address,uint256)";
      const data = plain.interface.encodeFunctionData(fragment, [wallet.address, rejecting.target, 1n]);
      const signed = { target: await plain.getAddress(), data, number: nextNumber() };
      const call = await deliver(signed, sign(signed));
      await expectFailure(relay, call, plain, "ERC721InvalidReceiver", rejecting.target);
      const empty = { target: stranger.address, data: "0x12345678", number: nextNumber() };
      const errors = { interface: new ethers.Interface(["error AddressEmptyCode(address)"]) };
      await expectFailure(relay, await deliver(empty, sign(empty)), errors, "AddressEmptyCode", stranger.address);
    });

    it("fails at the delegate contract itself, because no key belongs to its address", async () => {
      const { delegate, relay, intent, sign } = await setUp();
      const signed = await intent();
      const { r, vs } = sign(signed);
      const call = await item(delegate, "execute", signed.target, signed.data, r, vs);
      const error = await failureOf(relay, { ...call, number: signed.number }, delegate);
      expect(error.name).to.equal("DelegateInvalidSignature");
    });
  });

  it("receives the native currency, also with data, and answers nothing, as an account without code does", async () => {
    const { alice, wallet } = await setUp();
    const before = await ethers.provider.getBalance(wallet.address);
    for (const data of ["0x", "0xdeadbeef01", "0x01"])
      await alice.sendTransaction({ to: wallet.address, value: 5n, data });
    expect(await ethers.provider.getBalance(wallet.address)).to.equal(before + 15n);
    expect(await ethers.provider.call({ to: wallet.address, data: "0xdeadbeef" })).to.equal("0x");
  });

  it("receives tokens of both standards, single and in batches", async () => {
    const { plain, multi, wallet, alice } = await setUp();
    await plain.mint(wallet.address, 9n);
    await multi.mint(alice.address, 8n, 5n);
    await multi.connect(alice).safeTransferFrom(alice.address, wallet.address, 8n, 1n, "0x");
    await multi.connect(alice).safeBatchTransferFrom(alice.address, wallet.address, [8n], [2n], "0x");
    expect(await plain.ownerOf(9n)).to.equal(wallet.address);
    expect(await multi.balanceOf(wallet.address, 8n)).to.equal(3n);
  });

  it("isValidSignature: accepts only the wallet's signature, with 64 or 65 bytes", async () => {
    const { account, wallet } = await setUp();
    const hash = ethers.id("anything");
    const own = wallet.signingKey.sign(hash);
    const other = newWallet().signingKey.sign(hash);
    const high = `0x${(2n ** 255n - 1n).toString(16)}`;
    for (const [signature, answer] of [
      [own.serialized, "0x1626ba7e"],
      [own.compactSerialized, "0x1626ba7e"],
      [other.serialized, "0xffffffff"],
      [other.compactSerialized, "0xffffffff"],
      [`${own.serialized}00`, "0xffffffff"],
      ["0x", "0xffffffff"],
      [ethers.concat([own.r, high, "0x1b"]), "0xffffffff"],
      [`0x${"00".repeat(65)}`, "0xffffffff"],
    ] as const) {
      expect(await account.isValidSignature(hash, signature), signature).to.equal(answer);
    }
  });

  it("supportsInterface and relay: name the standards, and the relay of the deployment, for every wallet", async () => {
    const { account, delegate, relayAddress } = await setUp();
    for (const [name, id, supported] of [
      ["ERC-165", "0x01ffc9a7", true],
      ["the ERC-721 receiver", "0x150b7a02", true],
      ["the ERC-1155 receiver", "0x4e2312e0", true],
      ["ERC-1271", "0x1626ba7e", true],
      ["nothing", "0xffffffff", false],
    ] as const)
      expect(await account.supportsInterface(id), name).to.equal(supported);
    expect([await account.relay(), await delegate.relay()]).to.deep.equal([relayAddress, relayAddress]);
  });
});
