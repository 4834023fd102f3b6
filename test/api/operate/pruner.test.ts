import { expect } from "chai";

import { parseSettings } from "../../../api/config/settings.ts";
import type { PrunedKind } from "../../../api/domain/retention.ts";
import { Pruner } from "../../../api/operate/prune.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import type { Database } from "../../../api/store/db/database.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/log-lines.ts";
import { addTestDelivery, fillBasics, NOW } from "../store/retention/support.ts";

describe("Pruner", () => {
  let database: TestDatabase;
  let running: { stop: () => Promise<void> }[] = [];
  beforeEach(async () => {
    database = await openTestDatabase();
    await fillBasics(database);
    running = [];
  });
  afterEach(async () => {
    for (const { stop } of running) await stop();
    await database.remove();
  });

  function start(on: Database = database) {
    const { logger, lines } = logLines("debug");
    const counted: [PrunedKind, number][] = [];
    const looks = { count: 0 };
    const pruner = new Pruner({
      database: on,
      retain: parseSettings({}).retain,
      now: () => {
        looks.count += 1;
        return NOW;
      },
      logger,
      metrics: { pruned: (kind, rows) => counted.push([kind, rows]) },
      leaseTimes: leaseTimes(15),
      times: { first: 0, every: 20 },
    });
    const abort = new AbortController();
    const ended = pruner.run(abort.signal);
    const stop = async () => {
      abort.abort();
      await ended;
    };
    running.push({ stop });
    return { pruner, lines, counted, looks };
  }

  const left = async () => (await database.read.selectFrom("deliveries").select("id").execute()).length;
  const lease = () => database.read.selectFrom("leases").selectAll().where("name", "=", "pruner").executeTakeFirst();

  it("prunes, counts, logs one line for each run, and frees its lease for other processes", async () => {
    await addTestDelivery(database, { age: 40, status: "delivered" });
    await addTestDelivery(database, { age: 38, status: "failed" });
    const { lines, counted } = start();
    await eventually(async () => ((await left()) === 0 ? true : undefined));
    await eventually(async () => ((await lease())?.holder === null ? true : undefined));
    expect(counted).to.deep.equal([
      ["deliveries", 1],
      ["test_events", 2],
    ]);
    const told = lines.filter(({ msg }) => msg === "old rows were pruned");
    expect(told).to.have.length(1);
    expect(told[0]).to.deep.include({ rows: { deliveries: 1, test_events: 2 } });
    // The next run finds new old rows.
    await addTestDelivery(database, { age: 40, status: "delivered" });
    await eventually(async () => ((await left()) === 0 ? true : undefined));
  });

  it("says that it cannot prune, and goes on when it can", async () => {
    await addTestDelivery(database, { age: 40, status: "delivered" });
    let broken = true;
    const failing: Database = {
      ...database,
      write: (operation) => (broken ? Promise.reject(new Error("the disk is full")) : database.write(operation)),
    };
    const { pruner, lines } = start(failing);
    await eventually(() => Promise.resolve(pruner.lastError === null ? undefined : true));
    expect(pruner.lastError).to.equal("the disk is full");
    expect(lines.map(({ msg }) => msg)).to.include("old rows cannot be pruned; retrying");
    broken = false;
    await eventually(async () => ((await left()) === 0 && pruner.lastError === null ? true : undefined));
  });
});
