import { expect } from "chai";

import { WrongChain } from "../../../api/chain/chain-guard.ts";
import { ChainUnavailable, RateLimited } from "../../../api/chain/errors.ts";
import type { NodesState } from "../../../api/chain/nodes.ts";
import { createReadiness } from "../../../api/checks/readiness.ts";
import { type LogLine, logLines } from "../../support/log-lines.ts";
import { useTestDatabase } from "../../support/use-database.ts";

describe("readiness", () => {
  const database = useTestDatabase();
  let now: number;
  let looks: number;
  let answer: () => Promise<number>;
  let workers: { name: string; critical: boolean; worker: { lastError: string | null } }[];
  let nodes: NodesState;
  let lines: LogLine[];
  let readiness: ReturnType<typeof createReadiness>;
  beforeEach(() => {
    [now, looks] = [0, 0];
    answer = () => Promise.resolve(7);
    workers = [];
    const client = {
      headNumber: () => {
        looks += 1;
        return answer();
      },
      nodes: { state: () => nodes },
    };
    const log = logLines();
    lines = log.lines;
    nodes = { states: [], disagreement: null, isLimited: false };
    const parts = { database, client, workers, logger: log.logger };
    readiness = createReadiness(parts, () => now);
  });

  it("looks once a second at most, however many ask", async () => {
    const first = await Promise.all(Array.from({ length: 50 }, () => readiness()));
    expect(new Set(first)).to.have.property("size", 1);
    const checks = { database: "ok", chain: "ok", rows: "ok" };
    expect(first[0]).to.deep.equal({ ready: true, checks, details: checks });
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
    for (const { checks, details } of await Promise.all([slow, second])) {
      expect(checks).to.deep.equal({ database: "ok", chain: "unavailable", rows: "ok" });
      expect(details).to.deep.equal({ database: "ok", chain: "the node is gone", rows: "ok" });
    }
    expect(looks).to.equal(1);
  });

  const look = () => {
    now += 1_000;
    return readiness();
  };

  for (const [error, word, ready] of [
    [new ChainUnavailable("connect ECONNREFUSED 10.1.2.3:8545"), "unavailable", true],
    [new RateLimited(1_000), "rate_limited", true],
    [new WrongChain("the node at RPC_URL now serves chain 5"), "wrong_chain", false],
  ] as const)
    it(`says ${word} of the chain, with the details for the operator and once in the log`, async () => {
      answer = () => Promise.reject(error);
      expect(await look()).to.deep.equal({
        ready,
        checks: { database: "ok", chain: word, rows: "ok" },
        details: { database: "ok", chain: error.message, rows: "ok" },
      });
      await look();
      answer = () => Promise.resolve(8);
      expect((await look()).ready).to.equal(true);
      await look();
      expect(lines.map(({ msg, err }) => [msg, err?.message])).to.deep.equal([
        ["a check of /readyz fails", error.message],
        ["a check of /readyz succeeds again", undefined],
      ]);
    });

  it("stays ready while a lane fails, and says so in one word", async () => {
    const lastError = "lane 0xA1 has no funds";
    workers.push(
      { name: "lane 0", critical: true, worker: { lastError } },
      { name: "lane 1", critical: true, worker: { lastError: null } },
      { name: "gas", critical: false, worker: { lastError: "not shown" } },
    );
    const { ready, checks, details } = await look();
    expect(ready).to.equal(true);
    expect(checks).to.deep.equal({ database: "ok", chain: "ok", rows: "ok", "lane 0": "failing", "lane 1": "ok" });
    expect(details["lane 0"]).to.equal(lastError);
  });

  it("is not ready without its database, and names neither its host nor its user", async () => {
    await database.close();
    const { ready, checks, details } = await look();
    expect([ready, checks["database"]]).to.deep.equal([false, "unavailable"]);
    expect(details["database"]).to.be.a("string").and.not.equal("ok");
  });
});
