import { expect } from "chai";

import { SharedRates } from "../../../api/v1/shared-rates.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";

const LIMIT = 600;
const WINDOW = 60_000;
const ONE = { limit: LIMIT, count: 1 };
const FEW = { limit: 1, count: 1 };

describe("SharedRates", () => {
  let database: TestDatabase;
  let writes: number;

  beforeEach(async () => {
    database = await openTestDatabase();
    writes = 0;
  });
  afterEach(() => database.remove());

  /** One API process. @returns makes a call, and says whether it is within the limit. */
  function processOf(processes: () => number): (key: string) => Promise<boolean> {
    const counting: Pick<TestDatabase, "write"> = {
      write: (operation) => {
        writes += 1;
        return database.write(operation);
      },
    };
    const rates = new SharedRates({ database: counting, processes, window: WINDOW });
    const used = new Map<string, number>();
    return async (key) => {
      const local = (used.get(key) ?? 0) + 1;
      if (local > LIMIT) return false;
      used.set(key, local);
      const total = await rates.add(key, { used: local, msBeforeNext: WINDOW }, ONE);
      if (total !== null) used.set(key, total.used);
      return (total?.used ?? local) <= LIMIT;
    };
  }

  async function passed(call: (key: string) => Promise<boolean>, calls: number): Promise<number> {
    let count = 0;
    for (let index = 0; index < calls; index++) if (await call("token:a")) count += 1;
    return count;
  }

  it("writes nothing while one process runs", async () => {
    expect(
      await passed(
        processOf(() => 1),
        2 * LIMIT,
      ),
    ).to.equal(LIMIT);
    expect(writes).to.equal(0);
  });

  it("writes once for many calls while several run", async () => {
    expect(
      await passed(
        processOf(() => 2),
        2 * LIMIT,
      ),
    ).to.equal(LIMIT);
    expect(writes).to.be.within(10, LIMIT / 10);
  });

  it("lets through less than a quarter more, even if each process keeps its calls to itself for as long as it can", async () => {
    const all = Array.from({ length: 4 }, () => processOf(() => 4));
    let total = 0;
    // Each of the others stops just before it would add its calls.
    for (const call of all.slice(1)) total += await passed(call, LIMIT / 16 - 1);
    expect(writes).to.equal(0);
    total += await passed(all[0]!, 2 * LIMIT);
    for (const call of all.slice(1)) total += await passed(call, LIMIT);
    expect(total).to.be.within(LIMIT, 1.25 * LIMIT);
  });

  it("lets through two shares while the database does not answer, and adds the rest with one write", async () => {
    const answer = Promise.withResolvers<null>();
    const slow: Pick<TestDatabase, "write"> = {
      write: async (operation) => {
        writes += 1;
        await answer.promise;
        return database.write(operation);
      },
    };
    const rates = new SharedRates({ database: slow, processes: () => 2, window: WINDOW });
    let through = 0;
    const calls = Array.from({ length: LIMIT }, async (_, index) => {
      const total = await rates.add("token:a", { used: index + 1, msBeforeNext: WINDOW }, ONE);
      if (total === null) through += 1;
      return total;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes).to.equal(1);
    expect(through).to.be.within(1, (2 * LIMIT) / 8);
    answer.resolve(null);
    expect((await Promise.all(calls)).at(-1)).to.include({ used: LIMIT });
    expect(writes).to.equal(2);
  });

  it("adds what a process counted before another one started", async () => {
    let processes = 1;
    const [first, second] = [processOf(() => processes), processOf(() => processes)];
    expect(await passed(first, 500)).to.equal(500);
    processes = 2;
    expect(await passed(first, 1)).to.equal(1);
    expect(await passed(second, LIMIT)).to.be.within(70, 120);
  });

  it("adds up the items of batches", async () => {
    const [first, second] = [0, 1].map(() => new SharedRates({ database, processes: () => 2, window: WINDOW }));
    const many = { limit: 10_000, count: 3_000 };
    expect(await first?.add("items:a", { used: 3_000, msBeforeNext: WINDOW }, many)).to.include({ used: 3_000 });
    expect(await second?.add("items:a", { used: 3_000, msBeforeNext: WINDOW }, many)).to.include({ used: 6_000 });
    const few = { limit: 10_000, count: 100 };
    expect(await second?.add("items:a", { used: 6_100, msBeforeNext: WINDOW }, few)).to.equal(null);
  });

  it("keeps its count when the database fails, and begins again with the next window", async () => {
    let fails = true;
    const failing: Pick<TestDatabase, "write"> = {
      write: (operation) => (fails ? Promise.reject(new Error("disk full")) : database.write(operation)),
    };
    const rates = new SharedRates({ database: failing, processes: () => 2, window: WINDOW });
    const error: unknown = await rates
      .add("j", { used: 1, msBeforeNext: WINDOW }, FEW)
      .catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    fails = false;
    expect(await rates.add("j", { used: 2, msBeforeNext: WINDOW }, FEW)).to.include({ used: 2 });
    const working = new SharedRates({ database, processes: () => 2, window: 1 });
    expect(await working.add("k", { used: 1, msBeforeNext: 1 }, FEW)).to.include({ used: 1 });
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await working.add("k", { used: 1, msBeforeNext: 1 }, FEW)).to.include({ used: 1 });
  });
});
