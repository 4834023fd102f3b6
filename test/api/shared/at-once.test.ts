import { setImmediate as turn } from "node:timers/promises";

import { expect } from "chai";

import { forEachAtOnce } from "../../../api/shared/at-once.ts";

describe("forEachAtOnce", () => {
  async function* numbers(count: number) {
    for (let number = 0; number < count; number++) {
      await turn();
      yield number;
    }
  }

  it("works on every item, on so many at once as is allowed", async () => {
    const done: number[] = [];
    let running = 0;
    let most = 0;
    await forEachAtOnce(numbers(20), 3, async (number) => {
      most = Math.max(most, ++running);
      for (let turns = 0; turns < 5; turns++) await turn();
      running -= 1;
      done.push(number);
    });
    expect(done.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 20 }, (_, number) => number));
    expect(most).to.equal(3);
  });

  it("begins nothing after an error, and ends when the rest has ended", async () => {
    const ended: number[] = [];
    const work = async (number: number) => {
      if (number === 2) throw new Error("item 2");
      for (let turns = 0; turns < 20; turns++) await turn();
      ended.push(number);
    };
    expect(await forEachAtOnce(numbers(100), 3, work).catch(String)).to.equal("Error: item 2");
    expect(ended).to.include.members([0, 1]);
    expect(ended.length).to.be.lessThan(5);
    const before = ended.length;
    for (let turns = 0; turns < 30; turns++) await turn();
    expect(ended.length).to.equal(before);
  });

  it("passes on the error of the list, when the rest has ended", async () => {
    let ended = false;
    async function* broken() {
      yield* numbers(1);
      throw new Error("the list");
    }
    const work = async () => {
      for (let turns = 0; turns < 10; turns++) await turn();
      ended = true;
    };
    expect(await forEachAtOnce(broken(), 3, work).catch(String)).to.equal("Error: the list");
    expect(ended).to.equal(true);
  });
});
