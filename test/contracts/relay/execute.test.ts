import { expect } from "chai";
import { ZeroAddress } from "ethers";

import { BATCH_GAS, ethers, IN_AMSTERDAM, item, nextNumber, run, toCall } from "../support/deploy.ts";
import { emits, expectFailure, reverts } from "../support/expect-failure.ts";
import { setUp } from "./set-up.ts";

describe("Relay: execute", () => {
  it("is for operators, as long as they are, and while the relay is not paused", async () => {
    const { relay, stranger, admin, operator } = await setUp();
    await emits(relay.execute([]), relay, "BatchExecuted", 0n);
    for (const caller of [stranger, admin])
      await reverts(relay.connect(caller).execute([]), relay, "RelayUnauthorizedOperator", caller.address);
    await relay.connect(admin).pause();
    await reverts(relay.execute([]), relay, "EnforcedPause");
    await relay.connect(admin).unpause();
    await relay.connect(admin).setOperator(operator.address, false);
    await reverts(relay.execute([]), relay, "RelayUnauthorizedOperator", operator.address);
  });

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

  it("runs each number once: at both ends of the range, and in alternating words of the bitmap", async () => {
    const { relay, probe } = await setUp();
    const numbers = [0n, 2n ** 256n - 1n, 1n, 255n, 256n, 2n ** 256n - 256n, 257n, 254n];
    const count = await item(probe, "count");
    const items = numbers.map((number) => ({ ...count, number }));
    for (const number of numbers) expect(await relay.isConsumed(number)).to.equal(false);
    await expect(run(relay, ...items)).not.to.emit(relay, "CallSkipped");
    await run(relay, ...items);
    for (const number of numbers) {
      expect(await relay.isConsumed(number)).to.equal(true);
      expect(await probe.runs(number)).to.equal(1n);
    }
    for (const neighbour of [2n, 253n, 258n]) expect(await relay.isConsumed(neighbour)).to.equal(false);
  });

  it("skips a consumed number and runs the next one, also within a batch, and if the first call failed", async () => {
    const { relay, probe } = await setUp();
    const [first, second, failed] = [nextNumber(), nextNumber(), nextNumber()];
    const count = await item(probe, "count");
    await run(relay, { ...count, number: first }, { ...(await item(probe, "fail", 1n)), number: failed });
    const other = { ...count, number: second + 512n };
    const again = [first, second, failed, second].map((number) => ({ ...count, number }));
    const tx = run(relay, ...again, other);
    for (const number of [first, failed, second]) await emits(tx, relay, "CallSkipped", number);
    await emits(tx, relay, "BatchExecuted", 5n);
    for (const [number, runs] of [
      [first, 1n],
      [second, 1n],
      [failed, 0n],
      [other.number, 1n],
    ] as const)
      expect(await probe.runs(number)).to.equal(runs);
  });

  it("emits the reason of a call that fails, reverts only that call, and runs the next one", async () => {
    const { relay, probe } = await setUp();
    const [failing, next] = [nextNumber(), nextNumber()];
    const fail = { ...(await item(probe, "fail", 77n)), number: failing };
    const count = { ...(await item(probe, "count")), number: next };
    const calls = [fail, count].map(toCall);
    expect(await relay.execute.staticCall(calls, { gasLimit: BATCH_GAS })).to.equal(2n);
    const tx = run(relay, fail, count);
    await emits(tx, relay, "CallFailed", failing, probe.interface.encodeErrorResult("Failure", [77n]));
    await emits(tx, relay, "BatchExecuted", 2n);
    expect(await probe.runs(next)).to.equal(1n);
    expect(await relay.isConsumed(failing)).to.equal(true);
  });

  it("copies at most 256 bytes of revert data", async () => {
    const { relay, probe } = await setUp();
    for (const length of [0, 1, 31, 32, 33, 255, 256, 257, 1000]) {
      const bytes = Uint8Array.from({ length }, (_, index) => (index * 7 + 1) % 256);
      const numbers = [nextNumber(), nextNumber()];
      const failWith = await item(probe, "failWith", bytes);
      const tx = run(relay, ...numbers.map((number) => ({ ...failWith, number })));
      for (const number of numbers) await emits(tx, relay, "CallFailed", number, ethers.hexlify(bytes.slice(0, 256)));
    }
  });

  it("fails calls of targets without code, of the relay itself, and with data shorter than a selector", async () => {
    const { relay, relayAddress, probeAddress, stranger } = await setUp();
    const precompile = ethers.toBeHex(4, 20);
    const cancel = relay.interface.encodeFunctionData("cancel", [[1n]]);
    for (const target of [stranger.address, precompile, ZeroAddress, relayAddress]) {
      const number = nextNumber();
      await expectFailure(relay, { target, data: cancel, number }, relay, "RelayInvalidTarget", target);
      expect(await relay.isConsumed(number)).to.equal(true);
    }
    for (const length of [0, 1, 2, 3]) {
      const call = { target: probeAddress, data: ethers.hexlify(new Uint8Array(length)) };
      await expectFailure(relay, call, relay, "RelayDataTooShort", length);
    }
  });

  it("fails the two hostile calls of a hundred and runs the other 98", async () => {
    const { relay, probe } = await setUp();
    const count = await item(probe, "count");
    const gasLimit = IN_AMSTERDAM ? 200_000n : 60_000n;
    const items = Array.from({ length: 100 }, () => ({ ...count, number: nextNumber(), gasLimit }));
    items[30] = { ...(await item(probe, "burnAllGas")), number: nextNumber(), gasLimit: 1_000_000n };
    items[60] = { ...(await item(probe, "revertMegabyte")), number: nextNumber(), gasLimit: 3_000_000n };
    const tx = run(relay, ...items);
    await emits(tx, relay, "CallFailed", items[30].number, "0x");
    await emits(tx, relay, "CallFailed", items[60].number, (reason: string) => reason.length === 2 + 2 * 256);
    await emits(tx, relay, "BatchExecuted", 100n);
    for (const [index, entry] of items.entries())
      expect(await probe.runs(entry.number)).to.equal(index === 30 || index === 60 ? 0n : 1n);
  });

  it("does not copy a megabyte of returned data", async () => {
    const { relay, probe } = await setUp();
    const sent = await run(relay, { ...(await item(probe, "returnMegabyte")), gasLimit: 3_000_000n });
    // The target pays about 2.2 million gas for its memory. Copying would cost the same again.
    expect((await sent.wait())!.gasUsed).to.be.below(2_400_000n);
  });

  it("says that it executes during a batch, and fails an operator's execute and cancel from within one", async () => {
    const { relay, relayAddress, admin, probe } = await setUp();
    const receiver = await ethers.deployContract("ProgrammableReceiver");
    await relay.connect(admin).setOperator(receiver.target, true);
    for (const data of [
      relay.interface.encodeFunctionData("execute", [[toCall(await item(probe, "count"))]]),
      relay.interface.encodeFunctionData("cancel", [[nextNumber()]]),
    ]) {
      const call = await item(receiver, "call", relayAddress, data);
      await expectFailure(relay, call, relay, "ReentrancyGuardReentrantCall");
    }
    await receiver.programCall(relayAddress, relay.interface.encodeFunctionData("executing"));
    const hook = await item(receiver, "onERC721Received", ZeroAddress, ZeroAddress, 1n, "0x");
    await emits(run(relay, hook), receiver, "HookCall", true, ethers.toBeHex(1, 32));
    expect(await relay.executing()).to.equal(false);
  });
});
