import { setTimeout as wait } from "node:timers/promises";

import { expect } from "chai";

import { NodeBudget, type Priority } from "../../../api/chain/node-budget.ts";
import { Rpc } from "../../../api/chain/rpc.ts";
import { LimitedProvider } from "../../../scripts/scene/limited-provider.ts";
import { type FakeRpc, startFakeRpc } from "../../support/fake-rpc.ts";

const CALLS_PER_SECOND = 20;
/** Milliseconds in which the limit is learnt, and in which calls are counted. */
const LEARNING = 10_000;
const COUNTED = 20_000;
const AT_ONCE = 8;

describe("the budget of a node", () => {
  let node: FakeRpc;
  let provider: LimitedProvider;
  beforeEach(async () => {
    node = await startFakeRpc(() => "0x1");
    provider = await LimitedProvider.start(node.url, { callsPerSecond: CALLS_PER_SECOND });
  });
  afterEach(async () => {
    await provider.stop();
    await node.stop();
  });

  /** Calls as fast as the budget allows, until the end. @returns how many were answered while they were counted. */
  async function answered(budget: NodeBudget, priority: Priority, size = 1): Promise<number> {
    const rpc = new Rpc(provider.url, { maxWait: 60_000, budget });
    const started = performance.now();
    const age = () => performance.now() - started;
    const calls = Array.from({ length: size }, () => ({ method: "eth_blockNumber", params: [] }));
    let count = 0;
    const call = async () => {
      while (age() < LEARNING + COUNTED) {
        await rpc.bundle(calls, { priority });
        if (age() >= LEARNING && age() < LEARNING + COUNTED) count += calls.length;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, call));
    return count;
  }

  it("gives half of the calls to callers, a part to what reads the past, and uses most of what is allowed", async () => {
    const budget = new NodeBudget();
    const [callers, past] = await Promise.all([answered(budget, "caller"), answered(budget, "past", 3)]);
    const report = `${callers.toString()}, ${past.toString()} calls, ${provider.refused.rate.toString()} refusals`;
    expect(callers / (callers + past), report).to.be.within(0.4, 0.85);
    expect(callers + past, report).to.be.above(0.55 * CALLS_PER_SECOND * (COUNTED / 1_000));
  });

  it("gives all to the one that calls, and to the others again as soon as they do", async () => {
    const budget = new NodeBudget();
    const background = answered(budget, "past");
    await wait(LEARNING);
    const rpc = new Rpc(provider.url, { maxWait: 5_000, budget });
    const waits: number[] = [];
    for (let call = 0; call < 10; call++) {
      const started = performance.now();
      await rpc.call("eth_blockNumber", [], { priority: "caller" });
      waits.push(performance.now() - started);
      await wait(1_000);
    }
    expect(await background).to.be.above(0.5 * CALLS_PER_SECOND * (COUNTED / 1_000));
    // A refusal stops everybody for the second that the provider names. None waited longer than `maxWait`.
    expect(waits.sort((a, b) => a - b)[5]).to.be.below(500);
  });

  it("leaves each of two processes about half", async () => {
    const counts = await Promise.all([
      answered(new NodeBudget(), "past"),
      wait(3_000).then(() => answered(new NodeBudget(), "past")),
    ]);
    const sum = counts.reduce((a, b) => a + b);
    const report = `${counts.join(", ")} calls, ${provider.refused.rate.toString()} refusals`;
    for (const count of counts) expect(count / sum, report).to.be.within(0.3, 0.7);
    expect(sum, report).to.be.above(0.5 * CALLS_PER_SECOND * (COUNTED / 1_000));
  });
});
