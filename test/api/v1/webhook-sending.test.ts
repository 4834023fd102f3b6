import { expect } from "chai";
import { pino } from "pino";

import { openSecrets, sealSecrets } from "../../../api/keys/webhook-secrets.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { leaseTimes } from "../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../api/shared/metrics.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { Dispatcher } from "../../../api/webhooks/dispatcher.ts";
import { eventually } from "../../support/eventually.ts";
import { WebhookReceiver } from "../../../scripts/scene/receiver.ts";
import { isSigned } from "../../support/is-signed.ts";
import { type Item, type TestApi, startApi } from "../support/api.ts";
import { expectInvalid, expectRefusal } from "../support/expect.ts";

interface Delivery extends Item {
  id: string;
  event_id: string;
  event_type: string;
  attempts: number;
  next_attempt_at: string | null;
  response_status: number | null;
  response_body: string | null;
  error: string | null;
}

describe("webhook deliveries", () => {
  let api: TestApi;
  let receiver: WebhookReceiver;
  let secret: string;
  let wake: Signal;
  let stop: () => Promise<void>;

  beforeEach(async () => {
    receiver = await WebhookReceiver.listen();
    api = await startApi({ addressPolicy: { allowedHosts: new Set(), allowLoopback: true } });
    wake = new Signal();
    api.deliveriesDue = () => {
      wake.notify();
    };
    const agent = createOutboundAgent({ allowedHosts: new Set(), allowLoopback: true });
    const { database, sealer } = api;
    const logger = pino({ level: "silent" });
    const abort = new AbortController();
    const running = new Dispatcher({
      database,
      sealer,
      agent,
      wake,
      logger,
      metrics: NO_METRICS,
      now: () => Date.now(),
      leaseTimes: leaseTimes(15),
    }).run(abort.signal);
    stop = async () => {
      abort.abort();
      await running;
      await agent.close();
    };
    const { body } = await api.call("PUT", "/v1/webhook", { body: { url: receiver.url } });
    secret = body.secret ?? "";
  });
  afterEach(async () => {
    await stop();
    await api.close();
    await receiver.close();
  });

  const deliveries = async (query = "") => (await api.get(`/v1/webhook/deliveries${query}`)).body;
  const log = async () => ((await deliveries()) as { deliveries: Delivery[] }).deliveries;
  const test = async () => (await api.post("/v1/webhook/test", {})).body as Delivery;
  const redeliver = (id: string, token?: string) =>
    api.post(`/v1/webhook/deliveries/${id}/redeliver`, {}, token === undefined ? {} : { token });
  const redeliverFailed = () => api.post("/v1/webhook/deliveries/redeliver", {});
  const settled = (id: string) =>
    eventually(async () => (await log()).find((delivery) => delivery.id === id && delivery.status !== "pending"));
  const failedOnce = (id: string) =>
    eventually(async () => (await log()).find((delivery) => delivery.id === id && delivery.attempts === 1));

  describe("a test event", () => {
    it("is signed, sent whatever events the webhook chose, and listed as a delivery but not in the feed", async () => {
      await api.call("PUT", "/v1/webhook", { body: { url: receiver.url, events: ["error"] } });
      const queued = await test();
      expect(queued).to.include({ event_type: "test", request_id: null, status: "pending", attempts: 0 });
      const call = await receiver.received(() => true);
      expect(isSigned(call, secret)).to.equal(true);
      expect(call.headers["webhook-id"]).to.equal(queued.event_id);
      const { created_at: at, ...body } = call.body;
      expect(body).to.deep.equal({
        id: queued.event_id,
        type: "test",
        request_id: null,
        request_type: null,
        transaction_hash: null,
      });
      expect(Date.parse(String(at))).to.be.closeTo(Date.now(), 10_000);
      expect(await settled(queued.id)).to.include({
        status: "delivered",
        attempts: 1,
        response_status: 204,
        error: null,
      });
      expect((await api.get("/v1/events")).body).to.deep.include({ events: [] });
    });

    it("requires an enabled webhook", async () => {
      expectRefusal(await api.post("/v1/webhook/test", {}, { token: api.other.token }), 404, "not_found");
      receiver.status = 410;
      const { id } = await test();
      expect(await settled(id)).to.include({ status: "failed", response_status: 410 });
      expectInvalid(await api.post("/v1/webhook/test", {}), { webhook: "disabled" });
      expectInvalid(await redeliver(id), { webhook: "disabled" });
      expectInvalid(await redeliverFailed(), { webhook: "disabled" });
    });
  });

  describe("rotation of the secret", () => {
    const rotate = async () =>
      (await api.post("/v1/webhook/secret", {})).body as { secret: string; previous_expires_at: string };
    const lastCall = async (calls: number) => {
      await receiver.count(calls);
      return receiver.calls[calls - 1]!;
    };

    it("signs with two secrets for a day, never with three", async () => {
      const second = await rotate();
      expect(second.secret)
        .to.match(/^whsec_[A-Za-z0-9+/]{32}$/)
        .and.not.equal(secret);
      expect(Date.parse(second.previous_expires_at) - Date.now()).to.be.closeTo(86_400_000, 10_000);
      await test();
      const both = await lastCall(1);
      expect(both.headers["webhook-signature"]).to.match(/^v1,\S+ v1,\S+$/);
      expect([secret, second.secret].map((each) => isSigned(both, each))).to.deep.equal([true, true]);

      const third = await rotate();
      await test();
      const later = await lastCall(2);
      const signed = [secret, second.secret, third.secret].map((each) => isSigned(later, each));
      expect(signed).to.deep.equal([false, true, true]);
    });

    it("stops signing with the old secret when it expires", async () => {
      const second = await rotate();
      const row = await api.database.read.selectFrom("webhooks").selectAll().executeTakeFirstOrThrow();
      const secrets = await openSecrets(api.sealer, { webhookId: api.app.id, sealed: row.secrets }, () =>
        Promise.resolve(false),
      );
      const over = secrets.map((entry) => ({ ...entry, expires_at: entry.expires_at === null ? null : Date.now() }));
      const sealed = await sealSecrets(api.sealer, api.app.id, over);
      await api.database.write((trx) => trx.updateTable("webhooks").set({ secrets: sealed }).execute());
      await test();
      const call = await lastCall(1);
      expect([secret, second.secret].map((each) => isSigned(call, each))).to.deep.equal([false, true]);
    });

    it("keeps only the last two secrets live after simultaneous rotations", async () => {
      const made = await Promise.all(Array.from({ length: 6 }, rotate));
      expect(new Set(made.map((each) => each.secret)).size).to.equal(6);
      await test();
      const call = await lastCall(1);
      expect(made.filter((each) => isSigned(call, each.secret))).to.have.length(2);
    });

    it("requires a webhook, and reveals the secret nowhere else", async () => {
      expectRefusal(await api.post("/v1/webhook/secret", {}, { token: api.other.token }), 404, "not_found");
      const { secret: made } = await rotate();
      expect((await api.get("/v1/webhook")).text + api.log.join("")).to.not.contain(made);
      const row = await api.database.read.selectFrom("webhooks").selectAll().executeTakeFirstOrThrow();
      expect(JSON.stringify(row)).to.not.contain(made);
    });
  });

  describe("the list of deliveries", () => {
    it("lists the app's own deliveries, newest first, page by page", async () => {
      const made = [await test(), await test(), await test()].map((delivery) => delivery.id).reverse();
      await receiver.count(3);
      const first = (await deliveries("?limit=2")) as { deliveries: Delivery[]; next: string; total: number };
      expect(first.total).to.equal(3);
      const second = (await deliveries(`?limit=2&cursor=${first.next}`)) as { deliveries: Delivery[] };
      expect([...first.deliveries, ...second.deliveries].map((delivery) => delivery.id)).to.deep.equal(made);
      expect(second).to.include({ next: null });
      const theirs = await api.get("/v1/webhook/deliveries", { token: api.other.token });
      expect(theirs.body).to.deep.include({ deliveries: [], total: 0 });
    });

    it("shows how the receiver's answer begins, in the list and alone, until the next answer", async () => {
      receiver.respond = (_call, response) => response.writeHead(500).end("no such table: orders");
      const { id } = await test();
      const failed = await failedOnce(id);
      expect(failed).to.include({ response_status: 500, response_body: "no such table: orders" });
      // Five seconds after the try, and up to a tenth more.
      expect(Date.parse(failed.next_attempt_at ?? "")).to.be.closeTo(Date.now() + 5_000, 2_500);
      expect((await api.get(`/v1/webhook/deliveries/${id}`)).body).to.include({
        response_body: "no such table: orders",
      });
      receiver.respond = (_call, response) => response.writeHead(204).end();
      expect((await redeliver(id)).body).to.include({ id, response_body: "no such table: orders" });
      expect(await settled(id)).to.include({ status: "delivered", response_status: 204, response_body: null });
    });
  });

  describe("redelivery", () => {
    it("sends the same event id again, as a new delivery", async () => {
      const first = await test();
      await settled(first.id);
      const again = (await redeliver(first.id)).body as Delivery;
      expect(again.id).to.not.equal(first.id);
      expect(again.event_id).to.equal(first.event_id);
      await settled(again.id);
      expect(receiver.calls).to.have.length(2);
      expect(receiver.calls[1]?.text).to.equal(receiver.calls[0]?.text);
      expect(receiver.calls[1]?.headers["webhook-id"]).to.equal(first.event_id);
      expect((await deliveries()).total).to.equal(2);
    });

    it("retries a waiting delivery now", async () => {
      receiver.status = 500;
      const { id } = await test();
      await failedOnce(id);
      receiver.status = 200;
      expect((await redeliver(id)).body).to.include({ id, status: "pending" });
      expect(await settled(id)).to.include({ status: "delivered", attempts: 2 });
      expect((await deliveries()).total).to.equal(1);
    });

    it("sends all failed events again, each once", async () => {
      receiver.status = 500;
      const failed = [await test(), await test(), await test()];
      const over = { status: "failed" as const, next_at: null };
      const ids = failed.slice(0, 2).map(({ id }) => id);
      for (const { id } of failed) await failedOnce(id);
      await api.database.write((trx) => trx.updateTable("deliveries").set(over).where("id", "in", ids).execute());
      receiver.status = 200;
      const before = receiver.calls.length;
      expect((await redeliverFailed()).body).to.deep.equal({ redelivered: 2, more: false });
      const events = failed.slice(0, 2).map(({ event_id: id }) => id);
      const again = (await log()).filter((one) => events.includes(one.event_id) && !ids.includes(one.id));
      for (const { id } of again) expect(await settled(id)).to.include({ status: "delivered", attempts: 1 });
      const received = receiver.calls.slice(before).map(({ headers }) => String(headers["webhook-id"]));
      // The third may be tried again meanwhile.
      expect(received.filter((id) => events.includes(id)).sort()).to.deep.equal(events.sort());
      // Each has a later delivery now.
      expect((await redeliverFailed()).body).to.deep.equal({ redelivered: 0, more: false });
    });

    it("shows the payload of a delivery", async () => {
      const { id, event_id: event } = await test();
      await settled(id);
      const { body } = await api.get(`/v1/webhook/deliveries/${id}`);
      const { payload, ...delivery } = body as Delivery & { payload: string };
      expect(payload).to.equal(receiver.calls[0]?.text);
      expect(JSON.parse(payload)).to.include({ id: event, type: "test" });
      expect(delivery).to.include({ id, status: "delivered" });
    });
  });

  it("sends no old event after the webhook was removed and registered again", async () => {
    receiver.status = 500;
    const { id } = await test();
    await failedOnce(id);
    await api.call("DELETE", "/v1/webhook");
    receiver.status = 200;
    await api.call("PUT", "/v1/webhook", { body: { url: receiver.url } });
    expect(await settled(id)).to.include({ status: "failed", error: "the webhook was removed", next_attempt_at: null });
    const fresh = await test();
    await settled(fresh.id);
    expect(receiver.calls.slice(1).map((call) => call.body["id"])).to.deep.equal([fresh.event_id]);
  });
});
