import { expect } from "chai";

import { MAX_SERIES_HOURS, seriesSpan } from "../../../../api/domain/series.ts";
import { CounterDeltas, counterKeys, readCounter } from "../../../../api/store/db/counters.ts";
import { readSeries } from "../../../../api/store/listings/series.ts";
import { compareCounters } from "../../../../api/store/reconcile/compare.ts";
import { countFinal } from "../../../../api/store/requests/request-state.ts";
import { pruneSeries } from "../../../../api/store/retention/prune.ts";
import { useTestDatabase } from "../../../support/use-database.ts";

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 4, 4, 12);

describe("the buckets of the charts", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await database.write(async (trx) => {
      const counters = new CounterDeltas();
      counters.add(counterKeys.backlog(), 0);
      for (const hours of [0, MAX_SERIES_HOURS - 1, MAX_SERIES_HOURS + 30]) {
        countFinal(counters, { created_at: NOW - hours * HOUR - 500, fee_wei: "7" }, "completed", NOW - hours * HOUR);
      }
      await counters.flush(trx);
    });
  });

  const completed = async () => {
    const points = await readSeries(database.read, seriesSpan(MAX_SERIES_HOURS, NOW));
    return points.reduce((sum, point) => sum + point.completed, 0);
  };

  it("are deleted when no answer can show them any more", async () => {
    const key = (hours: number) => counterKeys.series(Math.floor((NOW - hours * HOUR) / 600_000), "completed");
    expect(await readCounter(database.read, key(MAX_SERIES_HOURS + 30))).to.equal(1);
    expect(await completed()).to.equal(2);
    await database.write((trx) => pruneSeries(trx, NOW));
    expect(await completed()).to.equal(2);
    expect(await readCounter(database.read, key(MAX_SERIES_HOURS + 30))).to.equal(0);
    expect(await readCounter(database.read, key(0))).to.equal(1);
  });

  it("are no difference for reconcile: they are sums over time", async () => {
    expect(await database.write((trx) => compareCounters(trx, true))).to.deep.equal([]);
    expect(await completed()).to.equal(2);
  });
});
