import { expect } from "chai";
import { network } from "hardhat";

import type { Relay } from "../../../types/ethers-contracts/index.js";
import {
  BATCH_GAS,
  ethers,
  IN_AMSTERDAM,
  type Item,
  item,
  networkHelpers,
  nextNumber,
  toCall,
} from "../support/deploy.ts";
import { shortOrLong } from "../support/runs.ts";
import { setUp } from "./set-up.ts";

/** Between two amounts of gas that are tried. */
const STEP = shortOrLong(10_000n, 2_500n);
/** The same, for a call with a limit of 60 million. */
const LARGE_STEP = shortOrLong(100_000n, 20_000n);

/** 1/63 of a limit is more than GAS_RESERVE only where transactions may have more gas than EIP-7825 allows. */
async function withoutTransactionLimit() {
  const override = { hardfork: "prague", transactionGasCap: false as const, blockGasLimit: 200_000_000 };
  const chain = (await network.create({ network: "default", override })).ethers;
  const [admin, operator] = await chain.getSigners();
  const relay = await chain.deployContract("Relay", [admin!.address, "https://host.example/metadata/"]);
  await relay.setOperator(operator!.address, true);
  return { relay: relay.connect(operator), probe: await chain.deployContract("CallProbe") };
}

/**
 * Sends a call that burns all its gas with several amounts of gas, in steps. It must fail with its whole limit, or not start, and
 * each must happen.
 */
async function expectAllOrNothing(
  relay: Relay,
  burning: Item,
  { from, to, step }: { from: bigint; to: bigint; step: bigint },
): Promise<void> {
  const seen = new Set<bigint>();
  for (let gasLimit = from; gasLimit <= to; gasLimit += step) {
    const call = toCall(burning);
    const receipt = await (await relay.execute([call], { gasLimit })).wait();
    const events = receipt!.logs.map((log) => relay.interface.parseLog(log)!);
    const executed = events.at(-1)!.args["executed"] as bigint;
    expect(events.map((event) => event.name)).to.deep.equal(
      executed === 0n ? ["BatchExecuted"] : ["CallFailed", "BatchExecuted"],
    );
    expect(await relay.isConsumed(call.number)).to.equal(executed === 1n);
    seen.add(executed);
  }
  expect([...seen].sort()).to.deep.equal([0n, 1n]);
}

describe("Relay", () => {
  describe("execute", () => {
    describe("given too little gas for the whole batch", () => {
      it("stops before any call that it cannot pay for; the rest runs in a later batch", async () => {
        const { relay, probe } = await setUp();
        // A first write costs more than the calls' limit in Amsterdam.
        await probe.spend(1n);
        const spend = await item(probe, "spend", 60_000n);
        const calls = () => Array.from({ length: 6 }, () => toCall({ ...spend, gasLimit: 200_000n }));
        const reached = new Set<bigint>();
        for (let gasLimit = 310_000n; gasLimit < 1_230_000n; gasLimit += STEP) {
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

      it("never fails a call for lack of gas, even if every call reverts and uses another word of the bitmap", async () => {
        const { relay, probe } = await setUp();
        const fail = await item(probe, "failLong");
        const base = nextNumber() << 40n;
        const batch = [0n, 1n, 2n, 3n].map((k) => toCall({ ...fail, number: base + k * 256n, gasLimit: 40_000n }));
        const reached = new Set<bigint>();
        for (let gasLimit = 350_000n; gasLimit < 1_000_000n; gasLimit += STEP) {
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

    it("given a call with a high limit that burns all its gas: either fails the call or does not start it, at every amount of gas around its limit", async () => {
      const { relay, probe } = await withoutTransactionLimit();
      const burn = { ...(await item(probe, "burnAllGas")), gasLimit: 60_000_000n };
      await expectAllOrNothing(relay, burn, { from: 60_300_000n, to: 61_500_000n, step: LARGE_STEP });
    }).timeout(60_000);

    it("given a call with 450,000 bytes of data: either gives it its whole limit or does not start it: copying the data costs more than the reserve", async function () {
      // Its floor price is above the gas limit of a transaction there (EIP-7976).
      if (IN_AMSTERDAM) this.skip();
      const { relay, probe } = await setUp();
      const selector = probe.interface.encodeFunctionData("burnAllGas");
      const data = selector.padEnd(2 + 2 * 450_000, "0");
      const item = { target: await probe.getAddress(), data, gasLimit: 4_000_000n };
      // Without the price of the data in the check, some of these revert as a whole.
      await expectAllOrNothing(relay, item, { from: 6_350_000n, to: 7_350_000n, step: 10n * STEP });
    }).timeout(60_000);

    it("given a new slot costs twice what the reserve was planned for: at worst reverts a batch as a whole, which can be sent again; no call fails for lack of gas", async function () {
      // The small reserve is half of two new slots at the prices before Amsterdam.
      if (IN_AMSTERDAM) this.skip();
      const { admin, operator, probe } = await setUp();
      const relay = (await ethers.deployContract("LowReserveRelay", [admin.address])).connect(operator);
      await relay.connect(admin).setOperator(operator.address, true);
      const spend = await item(probe, "spend", 92_000n);
      await probe.spend(1n);
      // Each number has a word of the bitmap of its own.
      const numbers = [1n, 2n].map((k) => (nextNumber() << 40n) + k * 256n);
      const batch = numbers.map((number) => toCall({ ...spend, number, gasLimit: 100_000n }));
      const outcomes = new Set<string>();
      for (let gasLimit = 160_000n; gasLimit <= 340_000n; gasLimit += 2_000n) {
        const snapshot = await networkHelpers.takeSnapshot();
        const sent = await relay.execute(batch, { gasLimit }).catch(() => null);
        const receipt = sent === null ? null : await sent.wait().catch(() => null);
        const names = (receipt?.logs ?? []).map((log) => relay.interface.parseLog(log)?.name);
        expect(names).to.not.include("CallFailed");
        const consumed = await Promise.all(numbers.map((number) => relay.isConsumed(number)));
        const executed = names.length === 0 ? 0 : consumed.filter(Boolean).length;
        if (names.length === 0) expect(consumed).to.deep.equal([false, false]);
        outcomes.add(names.length === 0 ? "reverted" : `executed ${executed.toString()}`);
        await snapshot.restore();
      }
      expect([...outcomes]).to.include.members(["reverted", "executed 2"]);
      await (await relay.execute(batch, { gasLimit: BATCH_GAS })).wait();
      expect(await Promise.all(numbers.map((number) => relay.isConsumed(number)))).to.deep.equal([true, true]);
    }).timeout(60_000);

    it("given the gas check before a call is too low: reverts the batch with RelayCallStarved instead of failing the call", async () => {
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
});
