import { expect } from "chai";

import type { ChainClient } from "../../../api/chain/client.ts";
import { createReadiness } from "../../../api/context/readiness.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";

describe("readiness", () => {
  let database: TestDatabase;
  let now: number;
  let looks: number;
  let answer: () => Promise<number>;
  let readiness: ReturnType<typeof createReadiness>;
  beforeEach(async () => {
    database = await openTestDatabase();
    [now, looks] = [0, 0];
    answer = () => Promise.resolve(7);
    const client = {
      headNumber: () => {
        looks += 1;
        return answer();
      },
    } as Pick<ChainClient, "headNumber"> as ChainClient;
    readiness = createReadiness({ database, client, health: () => Promise.resolve([]) }, () => now);
  });
  afterEach(() => database.remove());

  it("looks once a second at most, however many ask", async () => {
    const first = await Promise.all(Array.from({ length: 50 }, () => readiness()));
    expect(new Set(first)).to.have.property("size", 1);
    expect(first[0]).to.deep.equal({ ready: true, checks: { database: "ok", chain: "ok", rows: "ok" } });
    now = 999;
    await readiness();
    expect(looks).to.equal(1);
    now = 1_000;
    await readiness();
    expect(looks).to.equal(2);
  });

  it("waits for a slow look instead of beginning another one, and tells of its failure", async () => {
    const slowAnswer = Promise.withResolvers<number>();
    const asked = new Promise<void>((resolve) => {
      answer = () => {
        resolve();
        return slowAnswer.promise;
      };
    });
    const slow = readiness();
    await asked;
    now = 60_000;
    const second = readiness();
    slowAnswer.reject(new Error("the node is gone"));
    for (const { ready, checks } of await Promise.all([slow, second])) {
      expect(ready).to.equal(false);
      expect(checks).to.deep.equal({ database: "ok", chain: "the node is gone", rows: "ok" });
    }
    expect(looks).to.equal(1);
  });
});
