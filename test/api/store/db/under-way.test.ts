import { expect } from "chai";

import { newLeaseHolder } from "../../../../api/shared/lease-holder.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { countParked, parkedOf } from "../../../../api/store/db/parked-rows.ts";
import { LoneRuns, retryParked } from "../../../../api/store/db/under-way.ts";
import { recordTries } from "../../../../api/store/outbox/deliveries.ts";
import { putOffDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import { takeDueDeliveries } from "../../../support/taker.ts";
import { enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { addApp, addWebhook, firstOf } from "../../support/rows.ts";

const APP = "app-1";
const NOW = 1_700_000_000_000;
/** No process of this host. */
const DEAD = "other-host/-/1/x";
const DAY = 86_400_000;

/** What was taken, and how to end or give back the first of it. */
interface Taken {
  jobs: { id: string; crashes: number }[];
  end: () => Promise<unknown>;
  giveBack: () => Promise<unknown>;
}

const LEASE = 60_000;

/* The jobs that need no request. `media-jobs.test.ts` has the others. */

function addDeliveries(database: Database, count: number): Promise<void> {
  return database.write(async (trx) => {
    for (let index = 0; index < count; index++) await enqueueTestEvent(trx, firstOf(APP), NOW);
  });
}

async function takeDeliveries(
  database: Database,
  { now, ...by }: { now: number; holder: string; loneRuns: LoneRuns },
): Promise<Taken> {
  const lease = { ...by, now, leaseUntil: now + LEASE, running: 0 };
  const { taken } = await database.write((trx) => takeDueDeliveries(trx, lease));
  const result = { responseStatus: 500, responseBody: null, error: "500", nextAt: 0 };
  return {
    jobs: taken.map(({ id, crashes }) => ({ id, crashes })),
    end: () => database.write((trx) => recordTries(trx, [{ ...taken[0]!, result }], now)),
    giveBack: () => database.write((trx) => putOffDeliveries(trx, taken, 0, null)),
  };
}

describe("deliveries at which a process died", () => {
  const database = useTestDatabase();
  /** Each process comes after the lease of the one before is over. */
  let now: number;
  const process = (holder: string, loneRuns = new LoneRuns()) =>
    takeDeliveries(database, { now: (now += 2 * LEASE), holder, loneRuns });
  const crash = async () => (await process(DEAD)).jobs;
  const crashesOf = ({ jobs }: Taken) => jobs.map(({ crashes }) => crashes);

  beforeEach(async () => {
    now = NOW;
    await addApp(database, APP);
    await addWebhook(database, APP, NOW);
  });

  it("run alone after the first crash, and are jobs like any other when their work has ended", async () => {
    await addDeliveries(database, 2);
    expect(await crash()).to.have.length(2);
    const first = await process(newLeaseHolder());
    expect(crashesOf(first)).to.deep.equal([1]);
    await first.end();
    const second = await process(newLeaseHolder());
    // Which of the two comes first does not matter: the first one may be retried before the second.
    expect([[1], [0]]).to.deep.include(crashesOf(second).slice(0, 1));
  });

  it("are put aside after three crashes alone, until the operator tries them again", async () => {
    await addDeliveries(database, 1);
    for (const crashes of [0, 1, 2, 3]) expect(await crash()).to.have.nested.property("[0].crashes", crashes);
    for (let looks = 0; looks < 3; looks++) {
      now += DAY / 24;
      expect((await process(newLeaseHolder())).jobs).to.deep.equal([]);
    }
    expect((await countParked(database.read)).delivery).to.equal(1);
    const rows = await parkedOf(database.read, "delivery");
    const id = rows[0]?.id ?? "";
    expect(await database.write((trx) => retryParked(trx, "delivery", id))).to.equal(true);
    expect(crashesOf(await process(newLeaseHolder()))).to.deep.equal([0]);
    expect(await database.write((trx) => retryParked(trx, "delivery", id))).to.equal(false);
  });

  it("count nothing when a process stops, or is only slow", async () => {
    await addDeliveries(database, 2);
    const stopped = await process(DEAD);
    await stopped.giveBack();
    const slow = await process(newLeaseHolder());
    expect(crashesOf(slow)).to.deep.equal([0, 0]);
    expect(crashesOf(await process(newLeaseHolder()))).to.deep.equal([0, 0]);
  });

  it("do not reach the limit as long as their work ends now and then: sixty processes die", async () => {
    await addDeliveries(database, 1);
    for (let kills = 0; kills < 60; kills++) {
      const taken = await process(kills % 3 === 2 ? newLeaseHolder() : DEAD);
      expect(taken.jobs, kills.toString()).to.have.length(1);
      if (kills % 3 !== 2) continue;
      await taken.end();
    }
    expect((await countParked(database.read)).delivery).to.equal(0);
  });
});

describe("jobs that run alone", () => {
  let now: number;
  let loneRuns: LoneRuns;
  beforeEach(() => {
    now = 0;
    loneRuns = new LoneRuns(() => now);
  });

  const row = (app: string, crashes: number) => ({ app, crashes, holder: null });
  const sort = (rows: ReturnType<typeof row>[], running = 0) => loneRuns.sort(rows, running, ({ app }) => app).run;
  const run = (app: string, took: number) =>
    loneRuns.run({ crashes: 1 }, app, () => {
      now += took;
      return Promise.resolve();
    });

  it("wait until the others of their kind have ended, and nothing else begins meanwhile", () => {
    expect(sort([row("a", 0), row("b", 1)], 3)).to.deep.equal([]);
    expect(sort([row("a", 0), row("b", 1)])).to.deep.equal([row("b", 1)]);
  });

  it("wait for those of other kinds", async () => {
    const hanging = Promise.withResolvers<null>();
    const first = loneRuns.run({ crashes: 1 }, "a", () => hanging.promise);
    expect(sort([row("a", 0), row("b", 1)])).to.deep.equal([row("a", 0)]);
    const order: string[] = [];
    const second = loneRuns.run({ crashes: 1 }, "b", () => Promise.resolve(order.push("b")));
    const other = loneRuns.run({ crashes: 0 }, "c", () => Promise.resolve(order.push("c")));
    await other;
    expect(order).to.deep.equal(["c"]);
    hanging.resolve(null);
    await Promise.all([first, second]);
    expect(order).to.deep.equal(["c", "b"]);
  });

  it("leave the others as much time, so that an app whose server hangs stops nobody", async () => {
    expect(sort([row("a", 0), row("hangs", 1)])).to.deep.equal([row("hangs", 1)]);
    await run("hangs", 15_000);
    expect(sort([row("a", 0), row("hangs", 1)])).to.deep.equal([row("a", 0)]);
    now += 15_000;
    expect(sort([row("hangs", 1), row("fast", 1)])).to.deep.equal([row("fast", 1)]);
    for (let jobs = 0; jobs < 512; jobs++) {
      await run("fast", 5);
      expect(sort([row("hangs", 1), row("fast", 1)])).to.deep.equal([row("fast", 1)]);
    }
  });
});
