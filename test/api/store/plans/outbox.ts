import { insertApp } from "../../../../api/store/apps/apps.ts";
import { AT_ONCE } from "../../../../api/store/db/due.ts";
import type { Trx } from "../../../../api/store/db/sql.ts";
import { abandonDeliveries } from "../../../../api/store/outbox/abandoned-deliveries.ts";
import {
  findDelivery,
  payloadOf,
  recordTries,
  redeliver,
  redeliverFailed,
} from "../../../../api/store/outbox/deliveries.ts";
import { dueDeliveries, parkDeliveries, putOffDeliveries } from "../../../../api/store/outbox/due-deliveries.ts";
import { enqueueTestEvent, holdEvent } from "../../../../api/store/outbox/events.ts";
import {
  deleteWebhook,
  disableWebhook,
  findWebhook,
  holdWebhook,
  countWebhooks,
  insertWebhook,
  listWebhooks,
  replaceSecrets,
  updateWebhook,
} from "../../../../api/store/outbox/webhooks.ts";
import { BUSY, LARGE } from "../support/large-database.ts";
import { NOW, type Tour } from "./tour.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

const { app } = BUSY;
const key = { id: app, app_id: app };
const url = "https://busy.example/";

export async function runOutbox(tour: Tour): Promise<void> {
  const { read, write } = tour;
  await write((trx) => enqueueTestEvent(trx, key, NOW));
  await deliver(tour);
  await findWebhook(read, key);
  await listWebhooks(read, app);
  await write((trx) => holdWebhook(trx, key));
  await write((trx) => updateWebhook(trx, key, { events: ["completed"] }, NOW));
  await write((trx) => replaceSecrets(trx, app, { from: "sealed", to: "sealed again", now: NOW }));
  await write((trx) => disableWebhook(trx, { ...key, url: "https://another.example/" }, "410", NOW));
  await write((trx) => disableWebhook(trx, { ...key, url }, "410", NOW));
  await write((trx) => deleteWebhook(trx, key, NOW));
  await write((trx) => countWebhooks(trx, app));
  const webhook = { ...key, url, secrets: "sealed", events: null, collections: null, description: null };
  const times = { disabled_at: null, created_at: NOW, updated_at: NOW };
  await write((trx) => insertWebhook(trx, { ...webhook, ...times }));
}

/** Takes deliveries while two apps wait, one of whose queues is being ended, and stores every kind of result. */
async function deliver({ read, write }: Tour): Promise<void> {
  const takeMore = (trx: Trx) => takeDueDeliveries(trx, { ...taker(), now: NOW, leaseUntil: NOW + 60_000 });
  const look = () => write(takeMore);
  // One that is put aside.
  const [first] = await dueDeliveries(read, NOW, []);
  const crashed = { holder: null, crashes: 4 };
  await write((trx) =>
    trx
      .updateTable("deliveries")
      .set(crashed)
      .where("id", "=", first?.id ?? "")
      .execute(),
  );
  const { taken } = await look();
  await write((trx) => putOffDeliveries(trx, taken, NOW + 60_000, "holder"));
  const broken = taken.slice(0, 1).map(({ id, fence }) => ({ id, fence, error: "it always fails" }));
  await write((trx) => parkDeliveries(trx, broken, NOW));
  const results = [
    { responseStatus: 200, responseBody: "thanks", error: null, nextAt: null },
    { responseStatus: 500, responseBody: null, error: "it failed", nextAt: NOW + 5_000 },
    { responseStatus: null, responseBody: null, error: "no answer", nextAt: null },
  ];
  const tried = taken.flatMap((delivery, index) => {
    const result = results[index % results.length];
    return result === undefined ? [] : [{ ...delivery, result }];
  });
  await write((trx) => recordTries(trx, tried, AT_ONCE + NOW));
  await write(async (trx) => putOffDeliveries(trx, (await takeMore(trx)).taken, 0, null));
  for (const id of ["delivery-1", `delivery-${LARGE.toString()}`]) {
    const delivery = await findDelivery(read, app, id);
    if (delivery === undefined) throw new Error("the delivery is there");
    await write((trx) => holdEvent(trx, delivery.event_seq));
    const { eventId: _id, eventType: _type, ...row } = delivery;
    await write((trx) => redeliver(trx, row, NOW));
    await payloadOf(read, delivery);
  }
  await write((trx) => redeliverFailed(trx, app, NOW));
  await write((trx) => abandonDeliveries(trx, { id: "nobody", app_id: "nobody" }, "the webhook was removed", NOW));
  await write((trx) => abandonDeliveries(trx, key, "the webhook was removed", NOW));
  await look(); // Here the last chunk is ended.
  await write((trx) => insertApp(trx, { id: "abandoned", name: "abandoned", created_at: 1 }));
  const row = { webhook_id: "abandoned", app_id: "abandoned", up_to_seq: 1, reason: "the webhook was removed" };
  await write((trx) => trx.insertInto("abandoned_deliveries").values(row).execute());
  await look();
}
