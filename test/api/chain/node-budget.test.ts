import { once } from "node:events";
import { Worker } from "node:worker_threads";

import { expect } from "chai";

import { ChainUnavailable, RateLimited } from "../../../api/chain/errors.ts";
import { NodeBudget } from "../../../api/chain/node-budget.ts";
import { createNodesMemory, monotonic, NodeMemory } from "../../../api/chain/node-memory.ts";

/** Far above the wait for the calls of others. */
const LONG = 60_000;

describe("NodeBudget", () => {
  let shared: SharedArrayBuffer;
  let budget: NodeBudget;
  beforeEach(() => {
    shared = createNodesMemory();
    budget = new NodeBudget(new NodeMemory(1, shared));
  });

  const refuse = (retryAfter: number | null = null) => budget.refused(1, { retryAfter, startedAt: monotonic() });
  const take = (wait: number, of = budget) => of.take(1, { priority: "follow", wait });
  const failure = (promise: Promise<void>) =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it("lets everybody go, in requests of any size, until the provider refuses a call", async () => {
    for (let call = 0; call < 1_000; call++) {
      await take(0);
      budget.accepted(1, monotonic());
    }
    expect(budget.largest(100)).to.equal(100);
    expect(budget.isReported).to.equal(false);
    refuse();
    expect(budget.largest(1_000)).to.be.below(1_000);
    expect(budget.isReported).to.equal(true);
  });

  it("adds a random part of a second to the time that a provider names, so that processes do not come back in step", () => {
    const waits = Array.from({ length: 20 }, () => {
      const refused = new NodeBudget().refused(1, { retryAfter: 2_000, startedAt: monotonic() });
      return refused.retryAfter ?? 0;
    });
    for (const wait of waits) expect(wait).to.be.within(1_990, 2_250);
    expect(new Set(waits).size).to.be.above(1);
  });

  it("refuses a call at once when the provider accepts none for longer than the caller waits", async () => {
    refuse(30_000);
    for (const priority of ["api", "send", "follow", "background"] as const) {
      const error = await failure(budget.take(1, { priority, wait: 10_000 }));
      expect(error).to.be.instanceOf(RateLimited).and.to.include({ kind: "refused" });
    }
  });

  it("calls an outage by another name than a rate limit", async () => {
    budget.unavailable(30_000);
    expect(await failure(take(0)))
      .to.be.instanceOf(ChainUnavailable)
      .and.not.instanceOf(RateLimited);
  });

  it("counts refusals of calls that were sent side by side as one", () => {
    const startedAt = monotonic();
    for (let call = 0; call < 50; call++) budget.refused(1, { retryAfter: 0, startedAt });
    // A quarter of a second's calls: 20 a second at first, and four fifths of it after a refusal.
    expect(budget.largest(100)).to.equal(4);
  });

  it("ends the wait of a call that its caller gives up, and lets the others go on", async () => {
    refuse(300);
    const given = new AbortController();
    const first = failure(budget.take(1, { priority: "follow", wait: LONG, abort: given.signal }));
    const second = take(LONG);
    given.abort();
    expect(await first)
      .to.be.instanceOf(RateLimited)
      .and.to.include({ kind: "waiting" });
    await second;
  });

  it("goes on when a thread ends while it has the lock", async () => {
    const module = new URL("../../../api/chain/node-memory.ts", import.meta.url).href;
    const program = `
      const { NodeMemory } = await import("${module}");
      const { workerData } = await import("node:worker_threads");
      new NodeMemory(1, workerData).locked(() => process.exit(0));`;
    await once(
      new Worker(new URL(`data:text/javascript,${encodeURIComponent(program)}`), { workerData: shared }),
      "exit",
    );
    refuse(30_000);
    expect(budget.isReported).to.equal(true);
    // The lock is free again.
    const started = monotonic();
    expect(budget.isReported).to.equal(true);
    expect(monotonic() - started).to.be.below(500);
  });
});
