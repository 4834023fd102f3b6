import { expect } from "chai";

import { LeaseLost } from "../../../../api/shared/lease.ts";
import { openDatabase } from "../../../../api/store/db/database.ts";
import { endRun, holdRun, type Run, takeRun } from "../../../../api/store/reconcile/run.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

describe("the lease of a run of reconcile", () => {
  const database = useTestDatabase({ per: "block" });

  const take = (holder: string, isGone: boolean): Promise<Run | null> =>
    database.write((trx) =>
      takeRun(trx, { id: holder, anew: false }, { holder, now: 1_000, lasts: 60_000, isGone: () => isGone }),
    );
  const outcome = (work: Promise<unknown>) =>
    work.then(
      () => "done",
      (error: unknown) => (error instanceof LeaseLost ? "lost" : error),
    );

  it("is held by writes and renewals of its holder side by side, and by nobody else", async () => {
    const first = await take("first", false);
    expect(await take("second", false)).to.equal(null);
    if (first === null) return expect.fail("not taken");
    // Two transactions meet only when each has a pool of its own: one pool groups its writes.
    const other = await openDatabase(database.url);
    for (let index = 0; index < 30; index++) {
      const pair = [database, other].map((place) =>
        outcome(place.write((trx) => holdRun(trx, { ...first, searchedTo: index }, 61_000 + index))),
      );
      expect(await Promise.all(pair)).to.deep.equal(["done", "done"]);
    }
    await other.close();
    // A takeover: the first holder is gone.
    const second = await take("second", true);
    if (second === null) return expect.fail("not taken over");
    expect(second.id).to.equal("first");
    expect(await outcome(database.write((trx) => holdRun(trx, first, 62_000)))).to.equal("lost");
    await database.write((trx) => endRun(trx, second));
    expect((await take("third", false))?.id).to.equal("third");
  });
});
