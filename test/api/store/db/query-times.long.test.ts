import { expect } from "chai";

import { type Database, openDatabase } from "../../../../api/store/db/database.ts";
import { abandonDeliveries, closeAbandoned } from "../../../../api/store/outbox/abandoned-deliveries.ts";
import { describeOn } from "../../../support/engine.ts";
import { cpuTime } from "../plans/tour.ts";
import { BUSY } from "../support/large-database.ts";
import { isExcepted, tour, type Toured } from "../support/toured.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

/** Rows of each large table: enough that reading one of them takes its time. */
const ROWS = 200_000;
/** No statement may take as long as reading one large table. The plans show scans; this finds what they do not show. */
const SLOW_PART = 1;
const NOW = 1_000;

/* The plans of the same statements are tested in query-plans.test.ts. */

describeOn("sqlite", "the statements of the store, on large tables", () => {
  let toured: Toured;
  before("fill a database, and call every function of the store", async () => {
    toured = await tour(ROWS);
  });
  after(() => toured.remove());

  it("read no more rows than they need", () => {
    const { report } = toured;
    const slow = report.statements.filter(({ sql, ms }) => ms > report.walkMs * SLOW_PART && !isExcepted(sql, "slow"));
    const words = slow.map(({ sql, ms }) => `${ms.toFixed(1)} ms: ${sql.replace(/\s+/g, " ")}`);
    expect(slow, `reading a large table takes ${report.walkMs.toFixed(1)} ms\n${words.join("\n")}`).to.deep.equal([]);
  });

  it("skip the rows before the deepest offset in an index", () => {
    const { report } = toured;
    const slow = report.offsets.filter(({ first, deepest }) => deepest - first > report.walkMs * SLOW_PART);
    expect(slow).to.deep.equal([]);
  });

  describe("given a long queue of deliveries", () => {
    let database: Database;
    before(async () => {
      database = await openDatabase(`file:${toured.file}`);
    });
    after(() => database.close());

    const look = () =>
      database.write((trx) => takeDueDeliveries(trx, { ...taker(), now: NOW, leaseUntil: NOW + 60_000 }));
    const timed = async (work: () => Promise<unknown>) => {
      const start = cpuTime();
      await work();
      return cpuTime() - start;
    };

    const severalTimes = async (times: number, work: () => Promise<unknown>) => {
      const all: number[] = [];
      while (all.length < times) all.push(await timed(work));
      return all;
    };

    it("is looked at in a bounded time, and ended in chunks", async () => {
      // What a look would cost if it passed over the whole queue: both are measured now, on the same machine.
      const passed = database.read.selectFrom("deliveries").select((select) => select.fn.countAll().as("rows"));
      const whole = passed.where("next_at", "is not", null).where("created_at", ">", 0);
      const scan = Math.max(...(await severalTimes(5, () => whole.execute())));
      // The fastest of many looks, because other work on the machine interrupts some. One that passed over the queue would
      // also join it with the events, which costs several times as much as counting.
      expect(Math.min(...(await severalTimes(10, look))), "a look").to.be.below(scan);
      const reason = "the webhook was removed";
      const abandon = () =>
        database.write((trx) => abandonDeliveries(trx, { id: BUSY.app, app_id: BUSY.app }, reason, NOW));
      // The same chunk several times: all but the last are undone.
      const undone = () =>
        database
          .write(async (trx) => {
            await abandonDeliveries(trx, { id: BUSY.app, app_id: BUSY.app }, reason, NOW);
            throw new Undone();
          })
          .catch((error: unknown) => {
            if (!(error instanceof Undone)) throw error;
          });
      const chunk = [...(await severalTimes(3, undone)), await timed(abandon)];
      expect(Math.min(...chunk), "the end of the queue").to.be.below(scan * 2);
      const end = () => database.write((trx) => closeAbandoned(trx, NOW));
      let chunks = 0;
      for (; await end(); chunks++) expect(chunks, "it ends").to.be.below(ROWS / 1_000 + 1);
      expect(chunks).to.be.above(ROWS / 2_000);
      const pending = database.read.selectFrom("deliveries").select("seq").where("status", "=", "pending").limit(1);
      expect(await pending.execute()).to.deep.equal([]);
    });
  });
});

/** Rolls a transaction back. */
class Undone extends Error {}
