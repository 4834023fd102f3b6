import { expect } from "chai";
import { ZeroAddress } from "ethers";

import {
  BATCH_GAS,
  deploySystem,
  EPOCH,
  ethers,
  item,
  networkHelpers,
  nextNumber,
  run,
  toCall,
} from "./support/deploy.ts";

async function deployWithProbe() {
  const system = await deploySystem();
  const probe = await ethers.deployContract("CallProbe");
  return { ...system, probe, probeAddress: await probe.getAddress(), relayAddress: await system.relay.getAddress() };
}

function setUp() {
  return networkHelpers.loadFixture(deployWithProbe);
}

describe("Relay", () => {
  describe("constructor", () => {
    it("names the owner", async () => {
      const { relay, admin } = await setUp();
      expect(await relay.owner()).to.equal(admin.address);
    });

    it("refuses the zero address", async () => {
      const factory = await ethers.getContractFactory("Relay");
      await expect(factory.deploy(ZeroAddress))
        .to.be.revertedWithCustomError(factory, "OwnableInvalidOwner")
        .withArgs(ZeroAddress);
    });
  });

  describe("execute", () => {
    describe("given a caller who is not an operator", () => {
      it("reverts", async () => {
        const { relay, stranger, admin } = await setUp();
        for (const caller of [stranger, admin]) {
          await expect(relay.connect(caller).execute([]))
            .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
            .withArgs(caller.address);
        }
      });
    });

    describe("given an operator who was removed", () => {
      it("reverts", async () => {
        const { relay, admin, operator } = await setUp();
        await relay.connect(admin).setOperator(operator.address, false);
        await expect(relay.execute([]))
          .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
          .withArgs(operator.address);
      });
    });

    describe("given the relay is paused", () => {
      it("reverts", async () => {
        const { relay, admin } = await setUp();
        await relay.connect(admin).pause();
        await expect(relay.execute([])).to.be.revertedWithCustomError(relay, "EnforcedPause").withArgs();
      });
    });

    describe("given no calls", () => {
      it("says that none was executed", async () => {
        const { relay } = await setUp();
        await expect(relay.execute([])).to.emit(relay, "BatchExecuted").withArgs(0n);
      });
    });

    describe("given a call", () => {
      it("appends the number to its data and gives it its gas limit, whatever the transaction has", async () => {
        const { relay, probe, probeAddress } = await setUp();
        const seen = [];
        for (const gasLimit of [300_000n, 1_000_000n, BATCH_GAS]) {
          const number = nextNumber();
          const call = toCall({ ...(await item(probe, "record")), number, gasLimit: 50_000n });
          const receipt = await (await relay.execute([call], { gasLimit })).wait();
          const log = probe.interface.parseLog(receipt!.logs.find((entry) => entry.address === probeAddress)!)!;
          expect(log.args["data"]).to.equal(ethers.concat([call.data, ethers.toBeHex(number, 32)]));
          seen.push(log.args["gasAtStart"] as bigint);
        }
        expect(new Set(seen).size).to.equal(1);
        expect(seen[0]).to.be.within(49_500n, 50_000n);
      });

      it("consumes its number", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        expect(await relay.isConsumed(number)).to.equal(false);
        await run(relay, { ...(await item(probe, "record")), number });
        expect(await relay.isConsumed(number)).to.equal(true);
        expect(await relay.isConsumed(number + 1n)).to.equal(false);
        expect(await relay.isConsumed(number - 1n)).to.equal(false);
      });

      it("returns how many calls were dealt with", async () => {
        const { relay, probe } = await setUp();
        const calls = [toCall(await item(probe, "record")), toCall(await item(probe, "fail", 1n))];
        expect(await relay.execute.staticCall(calls, { gasLimit: BATCH_GAS })).to.equal(2n);
      });
    });

    describe("given numbers at the ends of the range and in alternating words of the bitmap", () => {
      it("runs each once", async () => {
        const { relay, probe } = await setUp();
        const numbers = [0n, 2n ** 256n - 1n, 1n, 255n, 256n, 2n ** 256n - 256n, 257n, 254n];
        const count = await item(probe, "count");
        await expect(run(relay, ...numbers.map((number) => ({ ...count, number })))).not.to.emit(relay, "CallSkipped");
        await run(relay, ...numbers.map((number) => ({ ...count, number })));
        for (const number of numbers) {
          expect(await relay.isConsumed(number)).to.equal(true);
          expect(await probe.runs(number)).to.equal(1n);
        }
        expect(await relay.isConsumed(2n)).to.equal(false);
      });
    });

    describe("given a number that was consumed", () => {
      it("skips the call and goes on", async () => {
        const { relay, probe } = await setUp();
        const [first, second] = [nextNumber(), nextNumber()];
        const count = await item(probe, "count");
        await run(relay, { ...count, number: first });
        const tx = run(relay, { ...count, number: first }, { ...count, number: second });
        await expect(tx).to.emit(relay, "CallSkipped").withArgs(first);
        await expect(tx).to.emit(relay, "BatchExecuted").withArgs(2n);
        expect([await probe.runs(first), await probe.runs(second)]).to.deep.equal([1n, 1n]);
      });

      it("skips it in the very same batch too", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        const count = await item(probe, "count");
        const other = { ...count, number: number + 512n };
        const tx = run(relay, { ...count, number }, { ...count, number }, other, { ...count, number });
        await expect(tx).to.emit(relay, "CallSkipped").withArgs(number);
        expect(await probe.runs(number)).to.equal(1n);
      });

      it("skips it after a failure", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        await run(relay, { ...(await item(probe, "fail", 1n)), number });
        await expect(run(relay, { ...(await item(probe, "count")), number }))
          .to.emit(relay, "CallSkipped")
          .withArgs(number);
        expect(await probe.runs(number)).to.equal(0n);
      });
    });

    describe("given a call that fails", () => {
      it("emits the reason, undoes only that call, and goes on", async () => {
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
        it(`copies ${Math.min(length, 256)} of ${length} bytes of reason`, async () => {
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

    describe("given targets that are no contract, or the relay itself", () => {
      it("fails them with RelayInvalidTarget, and consumes their numbers", async () => {
        const { relay, relayAddress, stranger } = await setUp();
        const precompile = ethers.toBeHex(4, 20);
        const cancel = relay.interface.encodeFunctionData("cancel", [[1n]]);
        for (const target of [stranger.address, precompile, ZeroAddress, relayAddress]) {
          const number = nextNumber();
          const reason = relay.interface.encodeErrorResult("RelayInvalidTarget", [target]);
          await expect(run(relay, { target, data: cancel, number }))
            .to.emit(relay, "CallFailed")
            .withArgs(number, reason);
          expect(await relay.isConsumed(number)).to.equal(true);
        }
      });
    });

    describe("given data shorter than a selector", () => {
      for (const length of [0, 1, 2, 3]) {
        it(`fails ${length} bytes with RelayDataTooShort`, async () => {
          const { relay, probeAddress } = await setUp();
          const number = nextNumber();
          const reason = relay.interface.encodeErrorResult("RelayDataTooShort", [length]);
          await expect(run(relay, { target: probeAddress, data: ethers.hexlify(new Uint8Array(length)), number }))
            .to.emit(relay, "CallFailed")
            .withArgs(number, reason);
        });
      }
    });

    describe("given hostile targets among a hundred calls", () => {
      it("fails those two and runs the 98 others", async () => {
        const { relay, probe } = await setUp();
        const count = await item(probe, "count");
        const items = Array.from({ length: 100 }, () => ({ ...count, number: nextNumber(), gasLimit: 60_000n }));
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

      it("does not copy a returned megabyte", async () => {
        const { relay, probe } = await setUp();
        const receipt = await (
          await run(relay, { ...(await item(probe, "returnMegabyte")), gasLimit: 3_000_000n })
        ).wait();
        // The target pays about 2.2 million for its memory; copying would cost as much again.
        expect(receipt!.gasUsed).to.be.below(2_400_000n);
      });
    });

    describe("given too little gas for all calls", () => {
      it("stops cleanly at every possible place, and the rest runs later", async () => {
        const { relay, probe } = await setUp();
        const spend = await item(probe, "spend", 60_000n);
        const calls = () => Array.from({ length: 6 }, () => toCall({ ...spend, gasLimit: 100_000n }));
        const reached = new Set<bigint>();
        for (let gasLimit = 90_000n; gasLimit < 1_000_000n; gasLimit += 2_500n) {
          const batch = calls();
          const snapshot = await networkHelpers.takeSnapshot();
          const receipt = await (await relay.execute(batch, { gasLimit })).wait();
          const logs = receipt!.logs.filter((log) => log.address === receipt!.to);
          const events = logs.map((log) => relay.interface.parseLog(log)!);
          expect(events.map((event) => event.name)).to.deep.equal(["BatchExecuted"]);
          const executed = events[0]!.args["executed"] as bigint;
          reached.add(executed);
          for (const [index, call] of batch.entries()) {
            expect(await relay.isConsumed(call.number)).to.equal(BigInt(index) < executed);
          }
          if (executed < 6n) {
            const again = await (await relay.execute(batch, { gasLimit: BATCH_GAS })).wait();
            const names = again!.logs.map((log) => relay.interface.parseLog(log)?.name);
            expect(names.filter((name) => name === "CallSkipped").length).to.equal(Number(executed));
            expect(names).not.to.include("CallFailed");
          }
          await snapshot.restore();
        }
        expect([...reached].sort()).to.deep.equal([0n, 1n, 2n, 3n, 4n, 5n, 6n]);
      }).timeout(60_000);

      it("never blames a call for gas that it did not get, though each is in another word of the bitmap and fails", async () => {
        const { relay, probe } = await setUp();
        const fail = await item(probe, "failLong");
        const base = nextNumber() << 40n;
        const batch = [0n, 1n, 2n, 3n].map((k) => toCall({ ...fail, number: base + k * 256n, gasLimit: 40_000n }));
        const reached = new Set<bigint>();
        for (let gasLimit = 130_000n; gasLimit < 500_000n; gasLimit += 1_500n) {
          const snapshot = await networkHelpers.takeSnapshot();
          const receipt = await (await relay.execute(batch, { gasLimit })).wait();
          const events = receipt!.logs.map((log) => relay.interface.parseLog(log)!);
          const executed = events.at(-1)!.args["executed"] as bigint;
          expect(events.length).to.equal(Number(executed) + 1);
          for (const event of events.slice(0, -1)) {
            expect((event.args["reason"] as string).length).to.equal(2 + 2 * 256);
          }
          reached.add(executed);
          await snapshot.restore();
        }
        expect([...reached].sort()).to.deep.equal([0n, 1n, 2n, 3n, 4n]);
      }).timeout(60_000);
    });

    describe("given the check before a call were wrong", () => {
      it("undoes the batch instead of blaming the call", async () => {
        const { admin, operator, probe } = await setUp();
        const unguarded = await ethers.deployContract("UnguardedRelay", [admin.address]);
        await unguarded.connect(admin).setOperator(operator.address, true);
        const number = nextNumber();
        const call = toCall({ ...(await item(probe, "burnAllGas")), number, gasLimit: 1_000_000n });
        await expect(unguarded.connect(operator).execute([call], { gasLimit: 700_000n }))
          .to.be.revertedWithCustomError(unguarded, "RelayCallStarved")
          .withArgs(number, 1_000_000n);
        expect(await unguarded.isConsumed(number)).to.equal(false);
      });
    });

    describe("given a target that calls back as an operator", () => {
      it("cannot run or cancel anything meanwhile", async () => {
        const { relay, relayAddress, admin, probe } = await setUp();
        const receiver = await ethers.deployContract("ProgrammableReceiver");
        await relay.connect(admin).setOperator(receiver.target, true);
        const inner = [
          relay.interface.encodeFunctionData("execute", [[toCall(await item(probe, "count"))]]),
          relay.interface.encodeFunctionData("cancel", [[nextNumber()]]),
        ];
        for (const data of inner) {
          const number = nextNumber();
          const reason = relay.interface.encodeErrorResult("ReentrancyGuardReentrantCall");
          await expect(run(relay, { ...(await item(receiver, "call", relayAddress, data)), number }))
            .to.emit(relay, "CallFailed")
            .withArgs(number, reason);
        }
      });

      it("sees that a batch is running, and nobody does afterwards", async () => {
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

  describe("cancel", () => {
    it("consumes numbers without running them, for operators and the owner", async () => {
      const { relay, admin, operator, probe } = await setUp();
      for (const caller of [operator, admin]) {
        const number = nextNumber();
        const tx = relay.connect(caller).cancel([number, number + 1_000n]);
        await expect(tx).to.emit(relay, "NumberCancelled").withArgs(number);
        await expect(tx)
          .to.emit(relay, "NumberCancelled")
          .withArgs(number + 1_000n);
        await expect(run(relay, { ...(await item(probe, "count")), number }))
          .to.emit(relay, "CallSkipped")
          .withArgs(number);
        expect(await probe.runs(number)).to.equal(0n);
      }
    });

    it("leaves a consumed number as it is, without an event", async () => {
      const { relay, probe } = await setUp();
      const number = nextNumber();
      await run(relay, { ...(await item(probe, "count")), number });
      await expect(relay.cancel([number])).not.to.emit(relay, "NumberCancelled");
      expect(await relay.isConsumed(number)).to.equal(true);
    });

    it("works while the relay is paused", async () => {
      const { relay, admin } = await setUp();
      await relay.connect(admin).pause();
      await expect(relay.cancel([EPOCH]))
        .to.emit(relay, "NumberCancelled")
        .withArgs(EPOCH);
    });

    it("reverts for anybody else", async () => {
      const { relay, stranger } = await setUp();
      await expect(relay.connect(stranger).cancel([1n]))
        .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
        .withArgs(stranger.address);
    });
  });

  describe("setOperator", () => {
    it("adds and removes, and says so", async () => {
      const { relay, admin, alice } = await setUp();
      for (const allowed of [true, false]) {
        await expect(relay.connect(admin).setOperator(alice.address, allowed))
          .to.emit(relay, "OperatorSet")
          .withArgs(alice.address, allowed);
        expect(await relay.isOperator(alice.address)).to.equal(allowed);
      }
    });
  });

  describe("pause and unpause", () => {
    it("stop and start the batches", async () => {
      const { relay, admin } = await setUp();
      await expect(relay.connect(admin).pause()).to.emit(relay, "Paused").withArgs(admin.address);
      await expect(relay.connect(admin).unpause()).to.emit(relay, "Unpaused").withArgs(admin.address);
      await expect(relay.execute([])).to.emit(relay, "BatchExecuted").withArgs(0n);
    });
  });

  describe("administration", () => {
    it("is for the owner only", async () => {
      const { relay, stranger, operator } = await setUp();
      for (const caller of [stranger, operator]) {
        const as = relay.connect(caller);
        for (const attempt of [
          () => as.setOperator(caller.address, true),
          () => as.pause(),
          () => as.unpause(),
          () => as.transferOwnership(caller.address),
          () => as.renounceOwnership(),
        ]) {
          await expect(attempt())
            .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
            .withArgs(caller.address);
        }
      }
    });

    it("moves in two steps", async () => {
      const { relay, admin, alice, stranger } = await setUp();
      await relay.connect(admin).transferOwnership(alice.address);
      expect(await relay.owner()).to.equal(admin.address);
      await expect(relay.connect(stranger).acceptOwnership())
        .to.be.revertedWithCustomError(relay, "OwnableUnauthorizedAccount")
        .withArgs(stranger.address);
      await relay.connect(alice).acceptOwnership();
      expect(await relay.owner()).to.equal(alice.address);
    });

    it("cannot be given up", async () => {
      const { relay, admin } = await setUp();
      await expect(relay.connect(admin).renounceOwnership())
        .to.be.revertedWithCustomError(relay, "RelayOwnershipRequired")
        .withArgs();
    });
  });
});
