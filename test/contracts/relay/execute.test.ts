import { expect } from "chai";

import { BATCH_GAS, ethers, item, nextNumber, run, toCall } from "../support/deploy.ts";
import { setUp } from "./set-up.ts";

describe("Relay", () => {
  describe("execute", () => {
    describe("given the caller is not an operator", () => {
      it("reverts with RelayUnauthorizedOperator", async () => {
        const { relay, stranger, admin } = await setUp();
        for (const caller of [stranger, admin]) {
          await expect(relay.connect(caller).execute([]))
            .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
            .withArgs(caller.address);
        }
      });
    });

    describe("given the operator was removed", () => {
      it("reverts with RelayUnauthorizedOperator", async () => {
        const { relay, admin, operator } = await setUp();
        await relay.connect(admin).setOperator(operator.address, false);
        await expect(relay.execute([]))
          .to.be.revertedWithCustomError(relay, "RelayUnauthorizedOperator")
          .withArgs(operator.address);
      });
    });

    describe("given the relay is paused", () => {
      it("reverts with EnforcedPause", async () => {
        const { relay, admin } = await setUp();
        await relay.connect(admin).pause();
        await expect(relay.execute([])).to.be.revertedWithCustomError(relay, "EnforcedPause").withArgs();
      });
    });

    describe("given no calls", () => {
      it("emits BatchExecuted with zero", async () => {
        const { relay } = await setUp();
        await expect(relay.execute([])).to.emit(relay, "BatchExecuted").withArgs(0n);
      });
    });

    describe("given calls with fresh numbers", () => {
      it("appends the number to the data and gives the exact gas limit, however much gas the transaction has", async () => {
        const { relay, probe, probeAddress } = await setUp();
        const seen = [];
        for (const gasLimit of [600_000n, 1_000_000n, BATCH_GAS]) {
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

      it("consumes the number of a call", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        expect(await relay.isConsumed(number)).to.equal(false);
        await run(relay, { ...(await item(probe, "record")), number });
        expect(await relay.isConsumed(number)).to.equal(true);
        expect(await relay.isConsumed(number + 1n)).to.equal(false);
        expect(await relay.isConsumed(number - 1n)).to.equal(false);
      });

      it("returns the number of calls that ran or failed", async () => {
        const { relay, probe } = await setUp();
        const calls = [toCall(await item(probe, "record")), toCall(await item(probe, "fail", 1n))];
        expect(await relay.execute.staticCall(calls, { gasLimit: BATCH_GAS })).to.equal(2n);
      });
    });

    describe("given numbers at both ends of the range and in alternating words of the bitmap", () => {
      it("runs each number once", async () => {
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

    describe("given a consumed number", () => {
      it("skips the call and runs the next one", async () => {
        const { relay, probe } = await setUp();
        const [first, second] = [nextNumber(), nextNumber()];
        const count = await item(probe, "count");
        await run(relay, { ...count, number: first });
        const tx = run(relay, { ...count, number: first }, { ...count, number: second });
        await expect(tx).to.emit(relay, "CallSkipped").withArgs(first);
        await expect(tx).to.emit(relay, "BatchExecuted").withArgs(2n);
        expect([await probe.runs(first), await probe.runs(second)]).to.deep.equal([1n, 1n]);
      });

      it("skips a repetition within the same batch", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        const count = await item(probe, "count");
        const other = { ...count, number: number + 512n };
        const tx = run(relay, { ...count, number }, { ...count, number }, other, { ...count, number });
        await expect(tx).to.emit(relay, "CallSkipped").withArgs(number);
        expect(await probe.runs(number)).to.equal(1n);
      });

      it("skips the call if the first one failed", async () => {
        const { relay, probe } = await setUp();
        const number = nextNumber();
        await run(relay, { ...(await item(probe, "fail", 1n)), number });
        await expect(run(relay, { ...(await item(probe, "count")), number }))
          .to.emit(relay, "CallSkipped")
          .withArgs(number);
        expect(await probe.runs(number)).to.equal(0n);
      });
    });
  });
});
