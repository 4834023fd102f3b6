import { expect } from "chai";

import {
  createErc1155,
  createErc721,
  deploySystem,
  ethers,
  HOSTED_BASE_URI,
  networkHelpers,
  nextNumber,
  run,
} from "./support/deploy.ts";
import { CHAIN_ID, newWallet, signExecution, signTransfer } from "./support/sign.ts";

describe("The main job", () => {
  describe("creating collections", () => {
    it("creates a hosted ERC721 whose URIs start with the factory's hosted base", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc721(system, {
        maxSupply: 5n,
        royaltyBps: 250,
        royaltyRecipient: system.bob.address,
      });
      await run(system.relay, {
        target: await collection.getAddress(),
        data: collection.interface.encodeFunctionData("mint", [system.alice.address]),
      });

      const root = `${HOSTED_BASE_URI}${CHAIN_ID}/${await collection.getAddress()}`;
      expect(await collection.name()).to.equal("Harbour Lights");
      expect(await collection.symbol()).to.equal("HARB");
      expect(await collection.owner()).to.equal(system.admin.address);
      expect(await collection.maxSupply()).to.equal(5n);
      expect(await collection.tokenURI(1n)).to.equal(`${root}/1`);
      expect(await collection.contractURI()).to.equal(root);
      expect(await collection.royaltyInfo(1n, 10_000n)).to.deep.equal([system.bob.address, 250n]);
    });

    it("creates a self-hosted ERC721 with its own owner", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc721(system, { hosted: false, owner: system.owner.address });
      await run(system.relay, {
        target: await collection.getAddress(),
        data: collection.interface.encodeFunctionData("mint", [system.alice.address]),
      });

      expect(await collection.owner()).to.equal(system.owner.address);
      expect(await collection.maxSupply()).to.equal(0n);
      expect(await collection.tokenURI(1n)).to.equal("https://app.example/tokens/1");
      expect(await collection.contractURI()).to.equal("https://app.example/collection.json");
      expect(await collection.royaltyInfo(1n, 10_000n)).to.deep.equal([ethers.ZeroAddress, 0n]);
    });

    it("creates a hosted ERC1155", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc1155(system);
      const root = `${HOSTED_BASE_URI}${CHAIN_ID}/${await collection.getAddress()}`;
      expect(await collection.name()).to.equal("Harbour Lights");
      expect(await collection.uri(7n)).to.equal(`${root}/{id}`);
      expect(await collection.contractURI()).to.equal(root);
    });

    it("creates a self-hosted ERC1155 in which single ids can have their own URI", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc1155(system, { hosted: false });
      const target = await collection.getAddress();
      await run(
        system.relay,
        { target, data: collection.interface.encodeFunctionData("create", [system.alice.address, 7n, 10n, ""]) },
        {
          target,
          data: collection.interface.encodeFunctionData("create", [system.alice.address, 8n, 20n, "ipfs://eight"]),
        },
        { target, data: collection.interface.encodeFunctionData("mint", [system.bob.address, 7n, 5n]) },
      );
      expect(await collection.uri(7n)).to.equal("https://app.example/{id}.json");
      expect(await collection.uri(8n)).to.equal("ipfs://eight");
      expect(await collection.totalSupply(7n)).to.equal(15n);
      expect(await collection.exists(9n)).to.equal(false);
      expect(await collection.balanceOf(system.bob.address, 7n)).to.equal(5n);
    });
  });

  describe("minting a batch", () => {
    it("mints the ids 1 to 100 to 100 receivers in one transaction", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc721(system);
      const target = await collection.getAddress();
      const receivers = Array.from({ length: 100 }, () => newWallet().address);
      const items = receivers.map((to) => ({
        target,
        data: collection.interface.encodeFunctionData("mint", [to]),
        gasLimit: 500_000n,
      }));
      await expect(run(system.relay, ...items))
        .to.emit(system.relay, "BatchExecuted")
        .withArgs(100n);
      for (const [index, receiver] of receivers.entries()) {
        expect(await collection.ownerOf(BigInt(index) + 1n)).to.equal(receiver);
      }
    });

    it("runs the other items when one fails", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc721(system);
      const rejecting = await ethers.deployContract("RejectingReceiver");
      const target = await collection.getAddress();
      const number = nextNumber();
      const tx = run(
        system.relay,
        { target, data: collection.interface.encodeFunctionData("mint", [system.alice.address]) },
        { target, data: collection.interface.encodeFunctionData("mint", [rejecting.target]), number },
        { target, data: collection.interface.encodeFunctionData("mint", [system.bob.address]) },
      );
      const reason = collection.interface.encodeErrorResult("ERC721InvalidReceiver", [rejecting.target]);
      await expect(tx).to.emit(system.relay, "CallFailed").withArgs(number, reason);
      expect(await collection.ownerOf(1n)).to.equal(system.alice.address);
      expect(await collection.ownerOf(2n)).to.equal(system.bob.address);
    });
  });

  describe("transferring by authorization", () => {
    it("moves an ERC721 token of a wallet that has no gas", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc721(system);
      const target = await collection.getAddress();
      const wallet = newWallet();
      await run(system.relay, { target, data: collection.interface.encodeFunctionData("mint", [wallet.address]) });

      const number = nextNumber();
      const { r, vs } = signTransfer(wallet, target, {
        from: wallet.address,
        to: system.bob.address,
        tokenId: 1n,
        amount: 1n,
        number,
      });
      const data = collection.interface.encodeFunctionData("transferWithAuthorization", [
        wallet.address,
        system.bob.address,
        1n,
        r,
        vs,
      ]);
      await expect(run(system.relay, { target, data, number }))
        .to.emit(collection, "Transfer")
        .withArgs(wallet.address, system.bob.address, 1n);
    });

    it("moves copies of an ERC1155 token", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const collection = await createErc1155(system);
      const target = await collection.getAddress();
      const wallet = newWallet();
      await run(system.relay, {
        target,
        data: collection.interface.encodeFunctionData("create", [wallet.address, 5n, 9n, ""]),
      });

      const number = nextNumber();
      const { r, vs } = signTransfer(wallet, target, {
        from: wallet.address,
        to: system.bob.address,
        tokenId: 5n,
        amount: 4n,
        number,
      });
      const data = collection.interface.encodeFunctionData("transferWithAuthorization", [
        wallet.address,
        system.bob.address,
        5n,
        4n,
        r,
        vs,
      ]);
      await expect(run(system.relay, { target, data, number }))
        .to.emit(collection, "TransferSingle")
        .withArgs(system.relay.target, wallet.address, system.bob.address, 5n, 4n);
      expect(await collection.balanceOf(wallet.address, 5n)).to.equal(5n);
    });
  });

  describe("transferring a foreign token through the delegate", () => {
    it("delegates the wallet and moves the token in one transaction", async () => {
      const system = await networkHelpers.loadFixture(deploySystem);
      const plain = await ethers.deployContract("PlainERC721");
      const wallet = newWallet();
      await plain.mint(wallet.address, 42n);

      const lane = newWallet().connect(ethers.provider);
      await networkHelpers.setBalance(lane.address, 10n ** 18n);
      await system.relay.connect(system.admin).setOperator(lane.address, true);

      const number = nextNumber();
      const inner = plain.interface.encodeFunctionData("safeTransferFrom(address,address,uint256)", [
        wallet.address,
        system.bob.address,
        42n,
      ]);
      const target = await plain.getAddress();
      const { r, vs } = signExecution(wallet, { relay: await system.relay.getAddress(), target, data: inner, number });
      const data = system.delegate.interface.encodeFunctionData("execute", [target, inner, r, vs]);
      const authorization = await wallet.authorize({
        address: await system.delegate.getAddress(),
        nonce: 0,
        chainId: CHAIN_ID,
      });
      const tx = await lane.sendTransaction({
        type: 4,
        to: system.relay.target,
        data: system.relay.interface.encodeFunctionData("execute", [
          [{ number, target: wallet.address, gasLimit: 500_000n, data }],
        ]),
        authorizationList: [authorization],
        gasLimit: 2_000_000n,
      });
      await tx.wait();
      expect(await plain.ownerOf(42n)).to.equal(system.bob.address);
      expect(await ethers.provider.getCode(wallet.address)).to.equal(
        ethers.concat(["0xef0100", await system.delegate.getAddress()]),
      );
    });
  });
});
