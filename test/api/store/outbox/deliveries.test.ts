import { expect } from "chai";

import { LONGEST_DELIVERY_WAIT, redeliverFailed } from "../../../../api/store/outbox/deliveries.ts";
import { parkDeliveries, putOffDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import { addApp, addTestEvents, addWebhook, APP, firstOf } from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

const NOW = 1_700_000_000_000;

describe("takeDueDeliveries", () => {
  const database = useTestDatabase();
  beforeEach(() => addAppWithWebhook(APP));

  const addAppWithWebhook = async (app: string) => addWebhook(database, await addApp(database, app), NOW);

  /** @returns the id of the delivery. */
  async function addDelivery(nextAt: number, app = APP): Promise<string> {
    return database.write(async (trx) => {
      const { id } = await enqueueTestEvent(trx, firstOf(app), NOW);
      await trx.updateTable("deliveries").set({ next_at: nextAt }).where("id", "=", id).execute();
      return id;
    });
  }

  const LEASE = 60_000;
  const lease = async (now = NOW) =>
    (await database.write((trx) => takeDueDeliveries(trx, { ...taker(), now, leaseUntil: now + LEASE }))).taken;
  const take = async (...options: Parameters<typeof lease>) => (await lease(...options)).map(({ id }) => id);

  describe("given a time that was stored before the clock was set back", () => {
    it("takes the delivery at once, after those that are due", async () => {
      const late = await addDelivery(NOW + LONGEST_DELIVERY_WAIT + 1);
      const due = await addDelivery(NOW);
      expect(await take()).to.deep.equal([due, late]);
      expect(await take(), "leased").to.deep.equal([]);
    });
  });

  describe("given a delivery that another process has taken after the lease had ended", () => {
    it("lets the earlier process neither park nor put it off", async () => {
      await addDelivery(NOW);
      const earlier = await lease();
      const later = await lease(NOW + LEASE);
      expect(later.map(({ id }) => id)).to.deep.equal(earlier.map(({ id }) => id));
      const untouched = await database.read.selectFrom("deliveries").select("next_at").executeTakeFirstOrThrow();
      const changes: ((trx: Trx) => Promise<unknown>)[] = [
        (trx: Trx) => putOffDeliveries(trx, earlier, NOW + 10 * LEASE, "earlier"),
        (trx: Trx) =>
          parkDeliveries(
            trx,
            earlier.map((one) => ({ ...one, error: new Error("no") })),
            NOW,
          ),
      ];
      for (const change of changes) {
        await database.write(change);
        const row = await database.read.selectFrom("deliveries").select("next_at").executeTakeFirstOrThrow();
        expect(row).to.deep.equal(untouched);
      }
    });
  });
});

describe("redeliverFailed", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    for (const app of [APP, "other"]) await addApp(database, app);
  });

  it("sends the events again in parts, oldest first, each once, and none of another app", async () => {
    const [count, part] = [1_200, 1_000];
    await database.write(async (trx) => {
      await addTestEvents(trx, APP, count, NOW);
      await addTestEvents(trx, "other", 1, NOW);
      await trx.updateTable("deliveries").set({ status: "failed", next_at: null }).execute();
    });
    const again = () => database.write((trx) => redeliverFailed(trx, APP, NOW + 1));
    expect(await again()).to.deep.equal({ redelivered: part, more: true });
    expect(await again()).to.deep.equal({ redelivered: count - part, more: false });
    expect(await again()).to.deep.equal({ redelivered: 0, more: false });
    const rows = await database.read
      .selectFrom("deliveries")
      .select(["app_id", "event_seq"])
      .where("status", "=", "pending")
      .orderBy("seq")
      .execute();
    expect(new Set(rows.map((row) => row.app_id))).to.deep.equal(new Set([APP]));
    const events = rows.map((row) => row.event_seq);
    expect(events).to.have.length(count);
    expect(events).to.deep.equal([...events].sort((a, b) => a - b));
  });
});
