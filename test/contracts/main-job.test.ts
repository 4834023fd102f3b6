import { expect } from "chai";

import {
  createErc1155,
  createErc721,
  deploySystem,
  ethers,
  item,
  networkHelpers,
  nextNumber,
  run,
} from "./support/deploy.ts";
import { CHAIN_ID, newWallet, signExecution, signTransfer } from "./support/sign.ts";

describe("The main job", () => {
  it("mints the ids 1 to 100 to 100 receivers in one transaction", async () => {
    const system = await networkHelpers.loadFixture(deploySystem);
    const collection = await createErc721(system);
    const receivers = Array.from({ length: 100 }, () => newWallet().address);
    const mints = await Promise.all(receivers.map((to) => item(collection, "mint", to)));
    await expect(run(system.relay, ...mints.map((mint) => ({ ...mint, gasLimit: 500_000n }))))
      .to.emit(system.relay, "BatchExecuted")
      .withArgs(100n);
    for (const [index, receiver] of receivers.entries()) {
      expect(await collection.ownerOf(BigInt(index) + 1n)).to.equal(receiver);
    }
  });

  it("moves some copies of an ERC1155 token by authorization", async () => {
    const system = await networkHelpers.loadFixture(deploySystem);
    const { relay, bob } = system;
    const collection = await createErc1155(system);
    const wallet = newWallet();
    await run(relay, await item(collection, "create", wallet.address, 5n, 9n, ""));

    const transfer = { from: wallet.address, to: bob.address, tokenId: 5n, amount: 4n, number: nextNumber() };
    const { r, vs } = signTransfer(wallet, await collection.getAddress(), transfer);
    const call = await item(collection, "transferWithAuthorization", wallet.address, bob.address, 5n, 4n, r, vs);
    await expect(run(relay, { ...call, number: transfer.number }))
      .to.emit(collection, "TransferSingle")
      .withArgs(relay.target, wallet.address, bob.address, 5n, 4n);
    expect(await collection.balanceOf(wallet.address, 5n)).to.equal(5n);
  });

  it("delegates a wallet and moves its foreign token in one transaction", async () => {
    const { relay, delegate, admin, bob } = await networkHelpers.loadFixture(deploySystem);
    const plain = await ethers.deployContract("PlainERC721");
    const wallet = newWallet();
    await plain.mint(wallet.address, 42n);

    const lane = newWallet().connect(ethers.provider);
    await networkHelpers.setBalance(lane.address, 10n ** 18n);
    await relay.connect(admin).setOperator(lane.address, true);

    const number = nextNumber();
    const inner = await item(plain, "safeTransferFrom(address,address,uint256)", wallet.address, bob.address, 42n);
    const { r, vs } = signExecution(wallet, { ...inner, relay: await relay.getAddress(), number });
    const { data } = await item(delegate, "execute", inner.target, inner.data, r, vs);
    const code = await delegate.getAddress();
    const tx = await lane.sendTransaction({
      type: 4,
      to: relay.target,
      data: relay.interface.encodeFunctionData("execute", [
        [{ number, target: wallet.address, gasLimit: 500_000n, data }],
      ]),
      authorizationList: [await wallet.authorize({ address: code, nonce: 0, chainId: CHAIN_ID })],
      gasLimit: 2_000_000n,
    });
    await tx.wait();
    expect(await plain.ownerOf(42n)).to.equal(bob.address);
    expect(await ethers.provider.getCode(wallet.address)).to.equal(ethers.concat(["0xef0100", code]));
  });
});
