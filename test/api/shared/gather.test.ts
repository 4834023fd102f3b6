import { expect } from "chai";

import { Gather } from "../../../api/shared/gather.ts";

describe("Gather", () => {
  it("handles the calls of one tick together, and answers each with its own result", async () => {
    const groups: number[][] = [];
    const gather = new Gather<number, number>((items) => {
      groups.push(items);
      return Promise.resolve(items.map((item) => item * 10));
    });
    expect(await Promise.all([1, 2, 3].map((item) => gather.add(item)))).to.deep.equal([10, 20, 30]);
    expect(groups).to.deep.equal([[1, 2, 3]]);
  });

  it("handles together what arrives while a group is being handled", async () => {
    const groups: number[][] = [];
    const first = Promise.withResolvers<undefined>();
    const begun = Promise.withResolvers<undefined>();
    const gather = new Gather<number, number>(async (items) => {
      groups.push(items);
      begun.resolve(undefined);
      if (groups.length === 1) await first.promise;
      return items;
    });
    const answers = [gather.add(1)];
    await begun.promise;
    answers.push(gather.add(2));
    await new Promise((resolve) => setImmediate(resolve));
    answers.push(gather.add(3));
    first.resolve(undefined);
    expect(await Promise.all(answers)).to.deep.equal([1, 2, 3]);
    expect(groups).to.deep.equal([[1], [2, 3]]);
  });

  it("works again after it was idle", async () => {
    const gather = new Gather<number, number>((items) => Promise.resolve(items));
    expect(await gather.add(1)).to.equal(1);
    expect(await gather.add(2)).to.equal(2);
  });

  it("makes no group of more than 500", async () => {
    const sizes: number[] = [];
    const gather = new Gather<number, number>((items) => {
      sizes.push(items.length);
      return Promise.resolve(items);
    });
    const items = Array.from({ length: 1_201 }, (_, index) => index);
    expect(await Promise.all(items.map((item) => gather.add(item)))).to.deep.equal(items);
    expect(sizes).to.deep.equal([500, 500, 201]);
  });

  it("fails the whole group at an error that concerns all, and runs nothing again", async () => {
    let runs = 0;
    const outage = new Error("the connection was lost");
    const handle = () => {
      runs += 1;
      return Promise.reject(outage);
    };
    const gather = new Gather<number, number>(handle, setImmediate, (error) => error === outage);
    const results = await Promise.allSettled([1, 2, 3].map((item) => gather.add(item)));
    for (const result of results) expect(result).to.deep.equal({ status: "rejected", reason: outage });
    expect(runs).to.equal(1);
  });

  it("handles each item alone when a group fails, so that only the bad one fails", async () => {
    const groups: number[][] = [];
    const gather = new Gather<number, number>((items) => {
      groups.push(items);
      return items.includes(2) ? Promise.reject(new Error("two")) : Promise.resolve(items);
    });
    const results = await Promise.allSettled([1, 2, 3].map((item) => gather.add(item)));
    expect(
      results.map((result) => (result.status === "fulfilled" ? result.value : (result.reason as Error).message)),
    ).to.deep.equal([1, "two", 3]);
    expect(groups).to.deep.equal([[1, 2, 3], [1], [2], [3]]);
  });
});
