import { expect } from "chai";

import { DeferredCalls, type ForeignCall } from "../../../api/relayer/foreign-simulations.ts";

const NOW = 5_000;

function callOf(id: string, appId = "a", receiver = id): ForeignCall {
  const command = { kind: "mint-erc721", collection: "0xc", to: receiver, metadata: null } as const;
  return { id, appId, receiver, command, number: 1n, needsDelegation: false, target: "0xc", data: "0x" };
}

describe("DeferredCalls", () => {
  let queue: DeferredCalls;
  beforeEach(() => {
    queue = new DeferredCalls();
  });

  it("gives calls in their order, the apps in turns", () => {
    for (const [id, app] of [
      ["a1", "a"],
      ["a2", "a"],
      ["a3", "a"],
      ["b1", "b"],
    ] as const)
      queue.add(callOf(id, app));
    const order: string[] = [];
    for (let call = queue.next(); call !== undefined; call = queue.next()) {
      order.push(call.id);
      queue.record(call, null, NOW);
    }
    expect(order).to.deep.equal(["a1", "b1", "a2", "a3"]);
  });

  it("holds a call once, also while it is simulated", () => {
    queue.add(callOf("x"));
    queue.add(callOf("x"));
    const call = queue.next();
    queue.add(callOf("x"));
    expect(queue.next()).to.equal(undefined);
    expect(queue.hasApp("a"), "still being simulated").to.equal(true);
    queue.record(call!, null, NOW);
    expect(queue.hasApp("a")).to.equal(false);
  });

  it("takes a hundred calls of an app, and then still those of others", () => {
    for (let count = 0; count < 100; count++) expect(queue.add(callOf(`a${count.toString()}`))).to.equal(true);
    expect(queue.add(callOf("one more"))).to.equal(false);
    expect(queue.add(callOf("b", "b"))).to.equal(true);
  });

  it("puts a call back at its place", () => {
    queue.add(callOf("first"));
    queue.add(callOf("second"));
    queue.putBack(queue.next()!);
    expect(queue.next()?.id).to.equal("first");
  });

  it("keeps a result for a minute", () => {
    queue.add(callOf("x"));
    queue.record(queue.next()!, { gas: 7n }, NOW);
    expect(queue.resultOf("x", NOW + 60_000)).to.deep.equal({ gas: 7n });
    expect(queue.resultOf("x", NOW + 60_001)).to.equal(undefined);
    expect(queue.resultOf("y", NOW)).to.equal(undefined);
  });

  it("remembers for ten minutes that a receiver was not answered, and lets its request go", () => {
    queue.add(callOf("x", "a", "receiver"));
    queue.record(queue.next()!, "unanswered", NOW);
    expect(queue.resultOf("x", NOW)).to.equal(null);
    expect(queue.isSlow("receiver", NOW + 599_999)).to.equal(true);
    expect(queue.isSlow("receiver", NOW + 600_000)).to.equal(false);
    expect(queue.isSlow("another", NOW)).to.equal(false);
  });
});
