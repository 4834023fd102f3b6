import { expect } from "chai";

import { createWebhook, redeliverEvent, registerWebhook, sendTestEvent } from "../../../../api/commands/webhooks.ts";
import { MAX_WEBHOOKS } from "../../../../api/config/limits.ts";
import { createSealer } from "../../../../api/keys/sealer.ts";
import type { Database } from "../../../../api/store/db/database.ts";
import { recordTries, redeliver, type TryResult } from "../../../../api/store/outbox/deliveries.ts";
import type { DueDelivery } from "../../../../api/store/outbox/due-deliveries.ts";
import { enqueueEvents, holdEvent } from "../../../../api/store/outbox/events.ts";
import {
  countWebhooks,
  deleteWebhook,
  disableWebhook,
  findWebhook,
  holdWebhook,
  insertWebhook,
} from "../../../../api/store/outbox/webhooks.ts";
import { pruneSome } from "../../../../api/store/retention/prune.ts";
import { describeOn } from "../../../support/engine.ts";
import { overlap, valueOf } from "../../../support/overlap.ts";
import { useTwoProcesses } from "../../../support/two-processes.ts";
import { addApp, addRequest, addWebhook, APP, creation, firstOf, WEBHOOK_URL } from "../../support/rows.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

const NOW = 1_700_000_000_000;
const HOUR = 3_600_000;
const FIRST = firstOf(APP);
/** A delivery that has ended. */
const DELIVERY = {
  seq: 1,
  app_id: APP,
  webhook_id: APP,
  request_id: null,
  subject: null,
  status: "delivered",
  tries: 1,
  next_at: null,
  fence: 1,
  response_status: 200,
  response_body: null,
  error: null,
  holder: null,
  crashes: 0,
  created_at: NOW,
  updated_at: NOW,
} as const;
const DELIVERED: TryResult = { responseStatus: 200, responseBody: null, error: null, nextAt: null };

describeOn("postgres", "two processes at the webhook of an app", () => {
  const two = useTwoProcesses(async (one) => {
    await addApp(one);
    await addWebhook(one, APP, NOW);
  });

  const deps = {
    sealer: createSealer([{ id: "key", bytes: Buffer.alloc(32, 1) }]),
    addressPolicy: { allowedHosts: new Set<string>(), allowLoopback: false },
  };
  const signals = { deliveries: { notify: () => undefined } };
  const take = (database: Database) =>
    database.write((trx) =>
      takeDueDeliveries(trx, {
        ...taker(),
        now: NOW,
        leaseUntil: NOW + 60_000,
      }),
    );
  const disable = (database: Database) =>
    database.write((trx) =>
      disableWebhook(trx, { ...FIRST, url: WEBHOOK_URL }, "an operator disabled the webhook", NOW),
    );
  const deliveries = () =>
    two.one.read.selectFrom("deliveries").select(["id", "status", "next_at"]).orderBy("seq").execute();

  /** Adds the events of a new request. */
  async function addEvents(...types: ("sent" | "completed")[]): Promise<void> {
    const request = await addRequest(two.one, creation());
    await two.one.write((trx) =>
      enqueueEvents(
        trx,
        types.map((type) => ({ request, type })),
        NOW,
      ),
    );
  }

  async function takenDelivery(): Promise<DueDelivery> {
    await addEvents("sent");
    const [delivery] = (await take(two.one)).taken;
    if (delivery === undefined) throw new Error("the delivery is due");
    return delivery;
  }

  it("deliver again what the other has delivered meanwhile, as a delivery of its own", async () => {
    const taken = await takenDelivery();
    const { second } = await overlap(
      two.one,
      (trx) => recordTries(trx, [{ ...taken, result: DELIVERED }], NOW),
      () => redeliverEvent({ database: two.other, signals }, APP, taken.id),
    );
    expect(valueOf(second)).to.include({ status: "pending" });
    expect(valueOf(second).id).to.not.equal(taken.id);
    expect((await deliveries())[0]).to.deep.equal({ id: taken.id, status: "delivered", next_at: null });
  });

  it("disable it, and leave a delivery that was delivered meanwhile as it is", async () => {
    const taken = await takenDelivery();
    const { waited } = await overlap(
      two.one,
      (trx) => recordTries(trx, [{ ...taken, result: DELIVERED }], NOW),
      () => disable(two.other),
    );
    expect(waited).to.equal(true);
    expect(await deliveries()).to.deep.equal([{ id: taken.id, status: "delivered", next_at: null }]);
  });

  it("put no delivery back into the queue that was ended meanwhile", async () => {
    await addEvents("sent", "completed");
    const [first, next] = await deliveries();
    const retryAt = (id: string | undefined, at: number) =>
      two.one.write((trx) =>
        trx
          .updateTable("deliveries")
          .set({ next_at: at })
          .where("id", "=", id ?? "")
          .execute(),
      );
    await retryAt(first?.id, NOW + HOUR);
    await retryAt(next?.id, NOW);
    const { waited } = await overlap(
      two.one,
      (trx) => disableWebhook(trx, { ...FIRST, url: WEBHOOK_URL }, "an operator disabled the webhook", NOW),
      () => take(two.other),
    );
    expect(waited).to.equal(true);
    expect((await deliveries()).map(({ status, next_at }) => [status, next_at])).to.deep.equal([
      ["failed", null],
      ["failed", null],
    ]);
  });

  it("disable it, and end the deliveries that are just being added", async () => {
    const request = await addRequest(two.one, creation());
    const { waited } = await overlap(
      two.one,
      (trx) => enqueueEvents(trx, [{ request, type: "sent" }], NOW),
      () => disable(two.other),
    );
    expect(waited).to.equal(true);
    expect((await deliveries()).map(({ status }) => status)).to.deep.equal(["failed"]);
  });

  it("say that a test event is gone that is just being pruned, and keep one that is just being sent again", async () => {
    const { id } = await sendTestEvent({ database: two.one, signals }, FIRST);
    await two.one.write((trx) => trx.updateTable("deliveries").set({ status: "delivered", next_at: null }).execute());
    const age = { now: Date.now() + 8 * 24 * HOUR, days: 7 };
    const again = () => redeliverEvent({ database: two.other, signals }, APP, id);
    const kept = await overlap(
      two.one,
      (trx) => holdEvent(trx, 1).then(() => redeliver(trx, { ...DELIVERY, id, event_seq: 1 }, NOW)),
      () => two.other.write((trx) => pruneSome(trx, "test_events", age)),
    );
    expect(valueOf(kept.second)).to.include({ rows: 0 });
    await two.one.write((trx) => trx.updateTable("deliveries").set({ status: "delivered", next_at: null }).execute());
    const gone = await overlap(two.one, (trx) => pruneSome(trx, "test_events", age), again);
    expect(gone.waited).to.equal(true);
    expect(gone.second).to.have.nested.property("reason.errorCode", "not_found");
    expect(await deliveries()).to.deep.equal([]);
  });

  it("send no test event to a webhook that is just being removed", async () => {
    const { second } = await overlap(
      two.one,
      (trx) => deleteWebhook(trx, FIRST, NOW),
      () => sendTestEvent({ database: two.other, signals }, FIRST),
    );
    expect(second).to.have.nested.property("reason.errorCode", "not_found");
    expect(await deliveries()).to.deep.equal([]);
  });

  describe("given the app has one webhook less than it may", () => {
    beforeEach(async () => {
      for (let count = 2; count < MAX_WEBHOOKS; count++)
        await addWebhook(two.one, APP, NOW, { id: `hook-${count.toString()}` });
    });

    const fields = { url: WEBHOOK_URL, events: null, collections: null, description: null };

    it("create one more, and refuse a second one", async () => {
      const { second, waited } = await overlap(
        two.one,
        async (trx) => {
          await countWebhooks(trx, APP);
          const rest = { secrets: "sealed", disabled_at: null, created_at: NOW, updated_at: NOW };
          await insertWebhook(trx, { id: "last", app_id: APP, ...fields, ...rest });
        },
        () => createWebhook({ database: two.other, ...deps }, APP, fields),
      );
      expect(waited).to.equal(true);
      expect(second).to.have.nested.property("reason.errorCode", "too_many_webhooks");
    });

    it("do not wait for each other while one stores an event of the app", async () => {
      const request = await addRequest(two.one, creation());
      const { second, waited } = await overlap(
        two.one,
        (trx) => enqueueEvents(trx, [{ request, type: "sent" }], NOW),
        () => createWebhook({ database: two.other, ...deps }, APP, fields),
      );
      expect([waited, valueOf(second).webhook.url]).to.deep.equal([false, WEBHOOK_URL]);
    });
  });

  it("register it anew, with a secret, when it is removed meanwhile", async () => {
    const { second, waited } = await overlap(
      two.one,
      async (trx, meet) => {
        await holdWebhook(trx, FIRST);
        await meet();
        return deleteWebhook(trx, FIRST, NOW);
      },
      () => registerWebhook({ database: two.other, ...deps }, APP, WEBHOOK_URL, null),
    );
    expect(waited).to.equal(true);
    expect(valueOf(second).secret).to.match(/^whsec_/);
    expect(await findWebhook(two.one.read, FIRST)).to.include({
      url: WEBHOOK_URL,
      secrets: valueOf(second).webhook.secrets,
    });
  });
});
