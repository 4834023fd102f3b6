import { expect } from "chai";
import { sql } from "kysely";

import { roundRobin } from "../../../../api/store/db/round-robin.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { describeOn } from "../../../support/engine.ts";

describeOn("sqlite", "roundRobin", () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await openTestDatabase();
  });
  afterEach(() => database.remove());

  for (const queue of [
    { table: "requests", at: "ready_at" },
    { table: "deliveries", at: "next_at" },
    { table: "media_jobs", at: "due_at" },
  ] as const)
    it(`steps from row to row of ${queue.table}, also when many have the same time`, async () => {
      const line = roundRobin(database.read, queue, { now: 1_000, longestWait: 1_000, limit: 10 });
      const { rows } = await sql<{ detail: string }>`explain query plan ${line} select seq from line`.execute(
        database.read,
      );
      const steps = rows.map(({ detail }) => detail).filter((detail) => detail.startsWith("SEARCH item"));
      // Without the row number, a step would pass over all rows that have the same time and that were read before.
      const sameTime = steps.filter((step) => step.includes(`${queue.at}=? AND seq>?`));
      const laterTime = steps.filter((step) => step.includes(`${queue.at}>?`));
      // For the first row of each app, and for the row after another one.
      expect([sameTime.length, laterTime.length, steps.length]).to.deep.equal([2, 4, 6]);
    });
});
