import { expect } from "chai";

import { answersInTime } from "../../../api/shared/answers-in-time.ts";

interface Call {
  appId: string;
  gas: bigint;
}

function callsOf(appId: string, count: number): Call[] {
  return Array.from({ length: count }, (_, index) => ({ appId, gas: BigInt(index) }));
}

function answer(part: Call[]): { gas: bigint }[] {
  return part.map(({ gas }) => ({ gas }));
}

describe("answersInTime", () => {
  it("returns the result of each call, and asks in parts that grow", async () => {
    const parts: number[] = [];
    const calls = callsOf("a", 250);
    const results = await answersInTime(calls, 60_000, (part) => {
      parts.push(part.length);
      return Promise.resolve(answer(part));
    });
    expect(results).to.deep.equal(answer(calls));
    expect(parts).to.deep.equal([1, 4, 16, 64, 100, 65]);
  });

  it("keeps the results of the other apps when the calls of one are not answered", async () => {
    const calls = [callsOf("slow", 5), callsOf("quick", 5)].flat();
    const results = await answersInTime(calls, 60_000, (part) =>
      Promise.resolve(part[0]?.appId === "slow" ? "unanswered" : answer(part)),
    );
    expect(results.slice(0, 5)).to.deep.equal(Array(5).fill(undefined));
    expect(results.slice(5)).to.deep.equal(answer(callsOf("quick", 5)));
  });

  it("keeps the answered part of an app, and asks no more after an unanswered one", async () => {
    let asked = 0;
    const results = await answersInTime(callsOf("a", 30), 60_000, (part) => {
      asked += 1;
      return Promise.resolve(asked === 2 ? "unanswered" : answer(part));
    });
    expect(asked).to.equal(2);
    expect(results.map((result) => result !== undefined)).to.deep.equal([true, ...Array<boolean>(29).fill(false)]);
  });

  it("begins no part that the rest of the budget cannot cover", async () => {
    const budget = 60_000;
    const parts: number[] = [];
    let now = 0;
    const run = (part: Call[]) => {
      parts.push(part.length);
      // Each call takes more than a third of the budget.
      now += part.length * (budget / 2.9);
      return Promise.resolve(answer(part));
    };
    await answersInTime(callsOf("a", 60), budget, run, () => now);
    expect(parts).to.deep.equal([1, 1]);
  });

  it("asks nothing for no calls", async () => {
    expect(await answersInTime([], 1, () => Promise.reject(new Error("asked")))).to.deep.equal([]);
  });
});
