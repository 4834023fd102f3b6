import { expect } from "chai";

import { recordTries } from "../../../../api/store/outbox/deliveries.ts";
import { enqueueDeliveries, type EventToDeliver } from "../../../../api/store/outbox/enqueue-deliveries.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";
import { addApp, addTestEvents, addWebhook, APP } from "../../support/rows.ts";

const NOW = 1_700_000_000_000;
const [MINE, OTHER] = ["0xA487a7aD5Dd6B34eD3732D495181d4FA70946C60", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"];

describe("enqueueDeliveries", () => {
  const database = useTestDatabase();
  let seqs: number[];

  beforeEach(async () => {
    for (const app of [APP, "other"]) await addWebhook(database, await addApp(database, app), NOW);
    await database.write((trx) => addTestEvents(trx, APP, 6, NOW));
    await database.write((trx) => trx.deleteFrom("deliveries").execute());
    seqs = (await database.read.selectFrom("events").select("seq").orderBy("seq").execute()).map(({ seq }) => seq);
  });

  /** Stores deliveries of events, numbered in their order. */
  async function enqueue(...events: Partial<EventToDeliver>[]): Promise<void> {
    const rest = { app_id: APP, request_id: null, type: "token.sent", subject: null, collection: MINE } as const;
    const whole = events.map((event, index) => ({ ...rest, seq: seqs[index] ?? 0, ...event }));
    await database.write((trx) => enqueueDeliveries(trx, whole, NOW));
  }

  /** `<webhook> <number of the event>` of the deliveries that are taken now, or of all. */
  const named = (rows: { webhookId: string; seq: number }[]) =>
    rows.map(({ webhookId, seq }) => `${webhookId} ${(seqs.indexOf(seq) + 1).toString()}`).sort();
  const all = async () => {
    const rows = await database.read.selectFrom("deliveries").select(["webhook_id", "event_seq"]).execute();
    return named(rows.map(({ webhook_id: webhookId, event_seq: seq }) => ({ webhookId, seq })));
  };
  async function take() {
    const { taken } = await database.write((trx) =>
      takeDueDeliveries(trx, { ...taker(), now: NOW, leaseUntil: NOW + 60_000 }),
    );
    const rows = await database.read.selectFrom("deliveries").select(["id", "event_seq"]).execute();
    const events = new Map(rows.map(({ id, event_seq }) => [id, event_seq]));
    return taken.map((one) => ({ ...one, seq: events.get(one.id) ?? 0 }));
  }

  it("gives each enabled webhook of the app the types and contracts that it names, and every gap", async () => {
    await addWebhook(database, APP, NOW, { id: "sent", events: ["token.sent", "gap"] });
    await addWebhook(database, APP, NOW, { id: "mine", events: ["token.sent", "gap"], collections: [MINE] });
    await addWebhook(database, APP, NOW, { id: "other's", events: ["token.sent", "gap"], collections: [OTHER] });
    await addWebhook(database, APP, NOW, { id: "disabled", events: ["token.sent"], disabled_at: NOW });
    await addWebhook(database, "other", NOW, { id: "stranger", events: ["token.sent"] });
    await enqueue(
      { type: "completed", collection: null },
      {},
      { collection: OTHER },
      { collection: null },
      { type: "gap", collection: null },
      { type: "in_block" },
    );
    const expected = [`${APP} 1`, "sent 2", "mine 2", "sent 3", "other's 3", "sent 4", "sent 5", "mine 5", "other's 5"];
    expect(await all()).to.deep.equal(expected.sort());
  });

  it("keeps one subject in order for each webhook, and no webhook waits for another", async () => {
    await addWebhook(database, APP, NOW, { id: "one", events: ["token.sent"] });
    await addWebhook(database, APP, NOW, { id: "two", events: ["token.sent"] });
    await enqueue({ subject: `${MINE}/1` }, { subject: `${MINE}/1` }, { subject: `${MINE}/2` }, {}, {});
    const first = await take();
    const apart = ["1", "3", "4", "5"];
    expect(named(first)).to.deep.equal([...apart.map((event) => `one ${event}`), ...apart.map((e) => `two ${e}`)]);
    const results = first
      .filter(({ seq }) => seq === seqs[0])
      .map(({ id, fence, webhookId }) => {
        // A dead letter releases the next, and a retry does not.
        const nextAt = webhookId === "one" ? null : NOW + 50_000;
        return { id, fence, result: { responseStatus: 500, responseBody: null, error: "500", nextAt } };
      });
    expect(results).to.have.length(2);
    await database.write((trx) => recordTries(trx, results, NOW));
    expect(named(await take())).to.deep.equal(["one 2"]);
  });
});
