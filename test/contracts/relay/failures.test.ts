import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { ethers, IN_AMSTERDAM, item, nextNumber, run, toCall } from "../support/deploy.ts";
import { expectFailure } from "../support/expect-failure.ts";
import { setUp } from "./set-up.ts";

describe("Relay", () => {
  describe("execute", () => {
    describe("given a call that fails", () => {
      it("emits the reason, reverts only that call, and runs the next one", async () => {
        const { relay, probe } = await setUp();
        const [failing, next] = [nextNumber(), nextNumber()];
        const tx = run(
          relay,
          { ...(await item(probe, "fail", 77n)), number: failing },
          { ...(await item(probe, "count")), number: next },
        );
        const reason = probe.interface.encodeErrorResult("Failure", [77n]);
        await expect(tx).to.emit(relay, "CallFailed").withArgs(failing, reason);
        await expect(tx).to.emit(relay, "BatchExecuted").withArgs(2n);
        expect(await probe.runs(next)).to.equal(1n);
        expect(await relay.isConsumed(failing)).to.equal(true);
      });

      for (const length of [0, 1, 31, 32, 33, 255, 256, 257, 1000]) {
        it(`copies ${Math.min(length, 256)} of ${length} bytes of revert data`, async () => {
          const { relay, probe } = await setUp();
          const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + 1) % 256);
          const numbers = [nextNumber(), nextNumber()];
          const failWith = await item(probe, "failWith", bytes);
          const tx = run(relay, { ...failWith, number: numbers[0]! }, { ...failWith, number: numbers[1]! });
          for (const number of numbers) {
            await expect(tx)
              .to.emit(relay, "CallFailed")
              .withArgs(number, ethers.hexlify(bytes.slice(0, 256)));
          }
        });
      }
    });

    describe("given targets without code, or the relay itself", () => {
      it("fails the calls with RelayInvalidTarget and consumes their numbers", async () => {
        const { relay, relayAddress, stranger } = await setUp();
        const precompile = ethers.toBeHex(4, 20);
        const cancel = relay.interface.encodeFunctionData("cancel", [[1n]]);
        for (const target of [stranger.address, precompile, ZeroAddress, relayAddress]) {
          const number = nextNumber();
          await expectFailure(relay, { target, data: cancel, number }, relay, "RelayInvalidTarget", target);
          expect(await relay.isConsumed(number)).to.equal(true);
        }
      });
    });

    describe("given data shorter than a selector", () => {
      for (const length of [0, 1, 2, 3]) {
        it(`fails ${length} bytes with RelayDataTooShort`, async () => {
          const { relay, probeAddress } = await setUp();
          const call = { target: probeAddress, data: ethers.hexlify(new Uint8Array(length)) };
          await expectFailure(relay, call, relay, "RelayDataTooShort", length);
        });
      }
    });

    describe("given hostile targets in a batch of a hundred calls", () => {
      it("fails those two calls and runs the other 98", async () => {
        const { relay, probe } = await setUp();
        const count = await item(probe, "count");
        const items = Array.from({ length: 100 }, () => ({
          ...count,
          number: nextNumber(),
          gasLimit: IN_AMSTERDAM ? 200_000n : 60_000n,
        }));
        items[30] = { ...(await item(probe, "burnAllGas")), number: nextNumber(), gasLimit: 1_000_000n };
        items[60] = { ...(await item(probe, "revertMegabyte")), number: nextNumber(), gasLimit: 3_000_000n };
        const tx = run(relay, ...items);
        await expect(tx).to.emit(relay, "CallFailed").withArgs(items[30].number, "0x");
        await expect(tx)
          .to.emit(relay, "CallFailed")
          .withArgs(items[60].number, (reason: string) => reason.length === 2 + 2 * 256);
        await expect(tx).to.emit(relay, "BatchExecuted").withArgs(100n);
        for (const [index, entry] of items.entries()) {
          expect(await probe.runs(entry.number)).to.equal(index === 30 || index === 60 ? 0n : 1n);
        }
      });

      it("does not copy a megabyte of returned data", async () => {
        const { relay, probe } = await setUp();
        const receipt = await (
          await run(relay, { ...(await item(probe, "returnMegabyte")), gasLimit: 3_000_000n })
        ).wait();
        // The target pays about 2.2 million gas for its memory. Copying would cost the same again.
        expect(receipt!.gasUsed).to.be.below(2_400_000n);
      });
    });

    describe("given a target that is an operator and calls back", () => {
      it("fails its execute and cancel with ReentrancyGuardReentrantCall", async () => {
        const { relay, relayAddress, admin, probe } = await setUp();
        const receiver = await ethers.deployContract("ProgrammableReceiver");
        await relay.connect(admin).setOperator(receiver.target, true);
        const inner = [
          relay.interface.encodeFunctionData("execute", [[toCall(await item(probe, "count"))]]),
          relay.interface.encodeFunctionData("cancel", [[nextNumber()]]),
        ];
        for (const data of inner) {
          const call = await item(receiver, "call", relayAddress, data);
          await expectFailure(relay, call, relay, "ReentrancyGuardReentrantCall");
        }
      });

      it("returns true from executing during the batch and false afterwards", async () => {
        const { relay, relayAddress } = await setUp();
        const receiver = await ethers.deployContract("ProgrammableReceiver");
        const question = relay.interface.encodeFunctionData("executing");
        await receiver.programCall(relayAddress, question);
        const hook = await item(receiver, "onERC721Received", ZeroAddress, ZeroAddress, 1n, "0x");
        await expect(run(relay, hook)).to.emit(receiver, "HookCall").withArgs(true, ethers.toBeHex(1, 32));
        expect(await relay.executing()).to.equal(false);
      });
    });
  });
});
