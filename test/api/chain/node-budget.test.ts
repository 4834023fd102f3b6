import { expect } from "chai";

import { ChainUnavailable, RateLimited } from "../../../api/chain/errors.ts";
import { NodeBudget, type Priority } from "../../../api/chain/node-budget.ts";

/** Far above the wait for the calls of others. */
const LONG = 60_000;

describe("NodeBudget", () => {
  let budget: NodeBudget;
  beforeEach(() => {
    budget = new NodeBudget();
  });

  const refuse = (retryAfter: number | null = null) => budget.refused(1, { retryAfter, startedAt: performance.now() });
  const turn = (wait: number, priority: Priority = "past") => budget.turn(1, { priority, wait });
  const failure = (promise: Promise<void>) =>
    promise.then(
      () => null,
      (error: unknown) => error,
    );

  it("lets everybody go, in requests of any size, until the provider refuses a call", async () => {
    for (let call = 0; call < 1_000; call++) {
      await turn(0);
      budget.accepted(1, performance.now());
    }
    expect(budget.largest(100)).to.equal(100);
    expect(budget.isLimited).to.equal(false);
    refuse();
    expect(budget.largest(1_000)).to.be.below(1_000);
    expect(budget.isLimited).to.equal(true);
  });

  it("refuses a call at once when the provider accepts none for longer than the caller waits", async () => {
    refuse(30_000);
    for (const priority of ["caller", "lane", "past"] as const) {
      const error = await failure(turn(10_000, priority));
      expect(error).to.be.instanceOf(RateLimited).and.to.include({ kind: "refused" });
    }
  });

  it("refuses those that already wait when the provider names a longer time than they wait", async () => {
    refuse(300);
    const waiting = failure(turn(10_000));
    refuse(30_000);
    expect(await waiting)
      .to.be.instanceOf(RateLimited)
      .and.to.include({ kind: "refused" });
  });

  it("calls an outage by another name than a rate limit", async () => {
    budget.unavailable(30_000);
    expect(await failure(turn(0)))
      .to.be.instanceOf(ChainUnavailable)
      .and.not.instanceOf(RateLimited);
  });

  it("counts refusals of calls that were sent side by side as one", () => {
    const startedAt = performance.now();
    for (let call = 0; call < 50; call++) budget.refused(1, { retryAfter: 0, startedAt });
    // A fifth of a second's calls: 20 a second at first, and seven tenths of it after a refusal.
    expect(budget.largest(100)).to.equal(2);
  });

  it("gives every second call to callers, and the others in turn to lanes and to what reads the past", async () => {
    refuse(0);
    const order: Priority[] = [];
    const go = (priority: Priority) => turn(LONG, priority).then(() => order.push(priority));
    const ends = (["past", "lane", "caller"] as const).flatMap((priority) =>
      Array.from({ length: 8 }, () => go(priority)),
    );
    await Promise.all(ends);
    const count = (wanted: Priority) => order.slice(0, 8).filter((priority) => priority === wanted).length;
    expect([count("caller"), count("lane"), count("past")]).to.deep.equal([4, 2, 2]);
  });

  it("does not let a small call that shows how the node is wait for the calls of others", async () => {
    refuse(0);
    const waiting = Array.from({ length: 20 }, () => turn(LONG));
    let gone = 0;
    for (const one of waiting) void one.then(() => (gone += 1));
    await budget.turn(1, { priority: "past", wait: LONG, urgent: true });
    expect(gone).to.be.below(5);
    await Promise.all(waiting);
  });

  it("ends the wait of a call that its caller gives up, and lets the others go on", async () => {
    refuse(300);
    const given = new AbortController();
    const first = failure(budget.turn(1, { priority: "past", wait: LONG, abort: given.signal }));
    const second = turn(LONG);
    given.abort();
    expect(await first)
      .to.be.instanceOf(RateLimited)
      .and.to.include({ kind: "waiting" });
    await second;
  });
});
