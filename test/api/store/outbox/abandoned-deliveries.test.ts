import { expect } from "chai";

import { abandonDeliveries, closeAbandoned } from "../../../../api/store/outbox/abandoned-deliveries.ts";
import { findDelivery, recordTries, redeliver, type TryResult } from "../../../../api/store/outbox/deliveries.ts";
import { enqueueEvents, enqueueTestEvent } from "../../../../api/store/outbox/events.ts";
import { deleteWebhook, disableWebhook, updateWebhook } from "../../../../api/store/outbox/webhooks.ts";
import {
  addApp,
  addRequest,
  addTestEvents,
  addWebhook,
  APP,
  creation,
  firstOf,
  WEBHOOK_URL,
} from "../../support/rows.ts";
import { useTestDatabase } from "../../../support/use-database.ts";
import { takeDueDeliveries, taker } from "../../../support/taker.ts";

const NOW = 1_700_000_000_000;
const FIRST = firstOf(APP);
/** Deliveries that one transaction ends. */
const CHUNK = 1_000;
const OK = { responseStatus: 200, responseBody: null, error: null, nextAt: null };

describe("abandoned deliveries", () => {
  const database = useTestDatabase();
  beforeEach(async () => {
    await addApp(database);
    await register();
  });

  const register = () => addWebhook(database, APP, NOW);
  /** @returns the id of its delivery. */
  const emit = async () => (await database.write((trx) => enqueueTestEvent(trx, FIRST, NOW))).id;
  /** Adds events as `emit` does, all at once. */
  const emitMany = (count: number) => database.write((trx) => addTestEvents(trx, APP, count, NOW));
  const take = async () =>
    (await database.write((trx) => takeDueDeliveries(trx, { ...taker(), now: NOW, leaseUntil: NOW + 60_000 }))).taken;
  const takenIds = async () => (await take()).map(({ id }) => id);
  const find = async (id: string) => {
    const found = await findDelivery(database.read, APP, id);
    if (found === undefined) throw new Error(`no delivery ${id}`);
    return found;
  };
  const count = async (status: "pending" | "failed") =>
    (await database.read.selectFrom("deliveries").select("id").where("status", "=", status).execute()).length;

  describe("abandonDeliveries", () => {
    it("ends a short queue at once, with the reason, and leaves nothing to do", async () => {
      const id = await emit();
      await database.write((trx) => abandonDeliveries(trx, FIRST, "the webhook was removed", NOW + 1));
      expect(await find(id)).to.include({
        status: "failed",
        error: "the webhook was removed",
        next_at: null,
        updated_at: NOW + 1,
      });
      expect(await database.write((trx) => closeAbandoned(trx, NOW))).to.equal(false);
    });

    it("leaves deliveries that have ended, and those of other apps, as they are", async () => {
      const delivered = await emit();
      await database.write((trx) => recordTries(trx, [{ id: delivered, fence: 0, result: OK }], NOW));
      await addApp(database, "other");
      const others = (await database.write((trx) => enqueueTestEvent(trx, firstOf("other"), NOW))).id;
      await database.write((trx) => abandonDeliveries(trx, FIRST, "the webhook was removed", NOW));
      expect((await find(delivered)).status).to.equal("delivered");
      expect((await findDelivery(database.read, "other", others))?.status).to.equal("pending");
    });

    it("ends a long queue in chunks, and sends none of it meanwhile", async () => {
      await emitMany(2 * CHUNK + 1);
      await database.write((trx) => disableWebhook(trx, { ...FIRST, url: WEBHOOK_URL }, "410", NOW));
      expect(await count("failed")).to.equal(CHUNK);
      expect(await take()).to.deep.equal([]);
      while (await database.write((trx) => closeAbandoned(trx, NOW)));
      expect(await count("pending")).to.equal(0);
    });
  });

  describe("given the webhook is registered again while a long queue is being ended", () => {
    beforeEach(async () => {
      await emitMany(2 * CHUNK + 5);
      await database.write((trx) => deleteWebhook(trx, FIRST, NOW));
      await register();
    });

    it("sends only events from after the registration, once the old ones have ended", async () => {
      const id = await emit();
      const taken: string[] = [];
      // Each look ends a chunk of the old ones first.
      for (let look = 0; look < 3; look++) taken.push(...(await takenIds()));
      expect(taken).to.deep.equal([id]);
      expect(await count("failed")).to.equal(2 * CHUNK + 5);
    });

    it("ends both queues when the webhook is removed once more", async () => {
      await emitMany(CHUNK);
      await database.write((trx) => deleteWebhook(trx, FIRST, NOW));
      while (await database.write((trx) => closeAbandoned(trx, NOW)));
      expect(await count("pending")).to.equal(0);
      await register();
      const id = await emit();
      expect(await takenIds()).to.deep.equal([id]);
    });
  });

  describe("given a disabled webhook that is enabled again", () => {
    it("does not send the events from before", async () => {
      await emitMany(2);
      await database.write((trx) => disableWebhook(trx, { ...FIRST, url: WEBHOOK_URL }, "410", NOW));
      await emitMany(1);
      await database.write((trx) => updateWebhook(trx, FIRST, { url: WEBHOOK_URL }, NOW));
      const taken = await take();
      expect(taken).to.have.length(1);
      expect(await count("failed")).to.equal(2);
    });
  });

  describe("redeliver", () => {
    it("makes a new delivery in place of one that is over although its row is still pending", async () => {
      await emitMany(CHUNK + 1);
      const [last] = await database.read.selectFrom("deliveries").selectAll().orderBy("seq", "desc").limit(1).execute();
      await database.write((trx) => deleteWebhook(trx, FIRST, NOW));
      await register();
      expect((await find(last!.id)).status, "not ended yet").to.equal("pending");
      const again = await database.write((trx) => redeliver(trx, last!, NOW));
      expect(again.id).to.not.equal(last!.id);
      expect(again.event_seq).to.equal(last!.event_seq);
      const taken: string[] = [];
      for (let look = 0; look < 3; look++) taken.push(...(await takenIds()));
      expect(taken).to.deep.equal([again.id]);
    });
  });

  describe("the delivery that waits for an earlier event of its request", () => {
    const retry = { responseStatus: 500, responseBody: null, error: "500", nextAt: NOW + 50_000 };

    /** Two requests with two events each; the first events are taken. @returns ids of the deliveries, by request. */
    async function twoRequests(): Promise<[string, string][]> {
      const requests: string[] = [];
      for (let index = 0; index < 2; index++) {
        const request = await addRequest(database, creation());
        const events = (["sent", "completed"] as const).map((type) => ({ request, type }));
        await database.write((trx) => enqueueEvents(trx, events, NOW));
        requests.push(request.id);
      }
      const rows = await database.read.selectFrom("deliveries").selectAll().orderBy("seq").execute();
      const ofRequest = (id: string) => rows.filter((row) => row.request_id === id).map((row) => row.id);
      const pairs = requests.map((id) => ofRequest(id) as [string, string]);
      expect(await takenIds()).to.have.members(pairs.map(([first]) => first));
      return pairs;
    }
    const record = async (id: string, result: TryResult, fence = 1) =>
      (await database.write((trx) => recordTries(trx, [{ id, fence, result }], NOW))).has(id);

    it("is due as soon as the earlier one has failed for good", async () => {
      const [[first, second]] = (await twoRequests()) as [[string, string]];
      await record(first, { ...retry, nextAt: null });
      expect(await takenIds()).to.deep.equal([second]);
    });

    it("stays as it is when a process that was replaced records its try late", async () => {
      const [[first]] = (await twoRequests()) as [[string, string]];
      await database.write((trx) =>
        trx.updateTable("deliveries").set({ next_at: 0 }).where("id", "=", first).execute(),
      );
      expect(await takenIds(), "taken over").to.deep.equal([first]);
      expect(await record(first, OK)).to.equal(false);
      expect(await find(first)).to.include({ status: "pending", tries: 0 });
      expect(await record(first, retry, 2)).to.equal(true);
      expect(await find(first)).to.include({ status: "pending", tries: 1 });
    });
  });
});
