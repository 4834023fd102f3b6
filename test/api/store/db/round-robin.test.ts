import { expect } from "chai";
import { sql } from "kysely";

import { roundRobin } from "../../../../api/store/db/round-robin.ts";
import { addApp, addRequest, creation } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("roundRobin", () => {
  const database = useTestDatabase();

  it("lets the apps take turns, in each turn the longest due first, and stops at the limit", async () => {
    const [now, longestWait] = [10, 1_000];
    // The second time of `b` was stored before the clock was set back. The one of `c` is still to come.
    const times = { a: [0, 0, 0, 0], b: [now, now + longestWait + 1], c: [now + 1] };
    const names = new Map<number, string>();
    for (const [app, ready] of Object.entries(times)) {
      await addApp(database, app);
      for (const [index, at] of ready.entries()) {
        const { id, seq } = await addRequest(database, creation(), { app });
        await database.write((trx) => trx.updateTable("requests").set({ ready_at: at }).where("id", "=", id).execute());
        names.set(seq, `${app}${(index + 1).toString()}`);
      }
    }
    const queue = { table: "requests", owner: "app_id", at: "ready_at" } as const;
    const read = async (limit: number) => {
      const due = roundRobin(database.read, queue, { now, longestWait, limit });
      const { rows } = await sql<{ seq: number; place: number }>`
        ${due} select seq, place from due order by place, at, seq`.execute(database.read);
      return rows.map(({ seq, place }) => `${place.toString()}: ${names.get(seq) ?? "?"}`);
    };
    const all = ["1: a1", "1: b1", "2: a2", "2: b2", "3: a3", "4: a4"];
    for (const limit of [1, 3, 5, 6, 7]) expect(await read(limit)).to.deep.equal(all.slice(0, limit));
  });
});
