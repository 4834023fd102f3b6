import { expect } from "chai";

import { BATCH_GAS, ethers, networkHelpers, run, toCall } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: minters`, () => {
    const setUp = () => networkHelpers.loadFixture(deploy);

    describe("setMinter", () => {
      it("grants and revokes the right to mint, also for the owner itself", async () => {
        const { owned, owner, bob, mint } = await setUp();
        const { target, data } = await mint(owned, bob.address);
        await expect(owner.sendTransaction({ to: target, data }))
          .to.be.revertedWithCustomError(owned, "CollectionUnauthorizedMinter")
          .withArgs(owner.address);
        await expect(owned.connect(owner).setMinter(owner.address, true))
          .to.emit(owned, "MinterSet")
          .withArgs(owner.address, true);
        expect(await owned.isMinter(owner.address)).to.equal(true);
        await (await owner.sendTransaction({ to: target, data })).wait();
        await expect(owned.connect(owner).setMinter(owner.address, false))
          .to.emit(owned, "MinterSet")
          .withArgs(owner.address, false);
        expect(await owned.isMinter(owner.address)).to.equal(false);
        await expect(owner.sendTransaction({ to: target, data }))
          .to.be.revertedWithCustomError(owned, "CollectionUnauthorizedMinter")
          .withArgs(owner.address);
      });

      it("revokes and restores the service's right to mint", async () => {
        const { owned, owner, relay, bob, mint } = await setUp();
        const relayAddress = await relay.getAddress();
        expect(await owned.isMinter(relayAddress)).to.equal(true);
        await expect(owned.connect(owner).setMinter(relayAddress, false))
          .to.emit(owned, "MinterSet")
          .withArgs(relayAddress, false);
        expect(await owned.isMinter(relayAddress)).to.equal(false);
        const call = await mint(owned, bob.address);
        await expectFailure(relay, call, owned, "CollectionUnauthorizedMinter", relayAddress);
        await owned.connect(owner).setMinter(relayAddress, true);
        expect(await owned.isMinter(relayAddress)).to.equal(true);
        await expect(run(relay, await mint(owned, bob.address))).not.to.emit(relay, "CallFailed");
      });

      it("reverts with OwnableUnauthorizedAccount for any other caller", async () => {
        const { owned, relay, admin, stranger } = await setUp();
        for (const caller of [admin, stranger]) {
          await expect(owned.connect(caller).setMinter(relay.target, false))
            .to.be.revertedWithCustomError(owned, "OwnableUnauthorizedAccount")
            .withArgs(caller.address);
        }
      });
    });

    describe("given a minter whose hook is called during a batch", () => {
      it("fails its mint with CollectionMintDuringBatch, so mints keep the order of the batch", async () => {
        const { owned, owner, relay, bob, mint } = await setUp();
        const receiver = await ethers.deployContract("ProgrammableReceiver");
        const receiverAddress = await receiver.getAddress();
        await owned.connect(owner).setMinter(receiverAddress, true);
        const { target, data } = await mint(owned, bob.address);
        await receiver.programCall(target, data);

        const refusal = owned.interface.encodeErrorResult("CollectionMintDuringBatch", [receiverAddress]);
        const batch = [toCall(await mint(owned, receiverAddress)), toCall(await mint(owned, bob.address))];
        const tx = relay.execute(batch, { gasLimit: BATCH_GAS });
        await expect(tx).to.emit(receiver, "HookCall").withArgs(false, refusal);
        await expect(tx).not.to.emit(relay, "CallFailed");
      });

      it("mints outside of a batch, even from its own hook", async () => {
        const { owned, owner, bob, mint } = await setUp();
        const receiver = await ethers.deployContract("ProgrammableReceiver");
        const receiverAddress = await receiver.getAddress();
        await owned.connect(owner).setMinter(receiverAddress, true);
        await owned.connect(owner).setMinter(owner.address, true);
        const inner = await mint(owned, bob.address);
        await receiver.programCall(inner.target, inner.data);
        const outer = await mint(owned, receiverAddress);
        const tx = owner.sendTransaction({ to: outer.target, data: outer.data });
        await expect(tx)
          .to.emit(receiver, "HookCall")
          .withArgs(true, (result: string) => result.length <= 66);
      });
    });
  });
}
