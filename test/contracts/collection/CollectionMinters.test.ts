import { expect } from "chai";

import { BATCH_GAS, ethers, networkHelpers, run, toCall } from "../support/deploy.ts";
import { emits, expectFailure, reverts } from "../support/expect-failure.ts";
import { KINDS } from "../support/kinds.ts";

for (const { kind, deploy } of KINDS) {
  describe(`${kind}: minters`, () => {
    const setUp = () => networkHelpers.loadFixture(deploy);

    it("get and lose the right to mint by the owner, also the owner itself, and the service", async () => {
      const { owned, owner, relay, bob, mint } = await setUp();
      const set = owned.connect(owner);
      const { target, data } = await mint(owned, bob.address);
      const byOwner = () => owner.sendTransaction({ to: target, data });
      await reverts(byOwner(), owned, "CollectionUnauthorizedMinter", owner.address);
      await emits(set.setMinter(owner.address, true), owned, "MinterSet", owner.address, true);
      expect(await owned.isMinter(owner.address)).to.equal(true);
      await (await byOwner()).wait();
      await emits(set.setMinter(owner.address, false), owned, "MinterSet", owner.address, false);
      expect(await owned.isMinter(owner.address)).to.equal(false);
      await reverts(byOwner(), owned, "CollectionUnauthorizedMinter", owner.address);

      const service = await relay.getAddress();
      expect(await owned.isMinter(service)).to.equal(true);
      await emits(set.setMinter(service, false), owned, "MinterSet", service, false);
      expect(await owned.isMinter(service)).to.equal(false);
      await expectFailure(relay, await mint(owned, bob.address), owned, "CollectionUnauthorizedMinter", service);
      await set.setMinter(service, true);
      expect(await owned.isMinter(service)).to.equal(true);
      await expect(run(relay, await mint(owned, bob.address))).not.to.emit(relay, "CallFailed");
    });

    it("are set by nobody else", async () => {
      const { owned, relay, admin, stranger } = await setUp();
      for (const caller of [admin, stranger]) {
        const attempt = owned.connect(caller).setMinter(relay.target, false);
        await reverts(attempt, owned, "OwnableUnauthorizedAccount", caller.address);
      }
    });

    it("cannot mint in their hook during a batch, so mints keep the order of the batch, but outside of one", async () => {
      const { owned, owner, relay, bob, mint } = await setUp();
      const receiver = await ethers.deployContract("ProgrammableReceiver");
      const receiverAddress = await receiver.getAddress();
      for (const minter of [receiverAddress, owner.address]) await owned.connect(owner).setMinter(minter, true);
      const [inner, outer] = [await mint(owned, bob.address), await mint(owned, receiverAddress)];
      await receiver.programCall(inner.target, inner.data);
      const refusal = owned.interface.encodeErrorResult("CollectionMintDuringBatch", [receiverAddress]);
      const tx = relay.execute([toCall(outer), toCall(inner)], { gasLimit: BATCH_GAS });
      await emits(tx, receiver, "HookCall", false, refusal);
      await expect(tx).not.to.emit(relay, "CallFailed");

      const alone = owner.sendTransaction({ to: outer.target, data: outer.data });
      await emits(alone, receiver, "HookCall", true, (result: string) => result.length <= 66);
    });
  });
}
