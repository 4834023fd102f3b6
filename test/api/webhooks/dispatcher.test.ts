import { randomBytes } from "node:crypto";

import { expect } from "chai";
import { Webhook } from "standardwebhooks";

import { createSealer } from "../../../api/keys/sealer.ts";
import { LONGEST_DELIVERY_WAIT } from "../../../api/store/outbox/deliveries.ts";
import { nextTry } from "../../../api/webhooks/dispatcher.ts";
import { poison } from "../../../scripts/scene/poison.ts";
import { eventually } from "../../support/eventually.ts";
import { parkedIds } from "../../support/poison.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";
import { takeDueDeliveries, taker } from "../../support/taker.ts";

const HOUR = 3_600_000;

describe("Dispatcher", () => {
  const fixture = useDispatcher();

  /** The dispatcher's database, whose transactions `operate` replaces while `run` runs. */
  async function withWrites(
    operate: (write: () => Promise<unknown>) => Promise<unknown>,
    run: () => Promise<void>,
  ): Promise<void> {
    const { database } = fixture;
    fixture.database = Object.assign(Object.create(database) as typeof database, {
      writeGroup: (operation: Parameters<typeof database.writeGroup>[0]) =>
        operate(() => database.writeGroup(operation)),
    });
    try {
      await run();
    } finally {
      await fixture.stop();
      fixture.database = database;
    }
  }

  it("signs each delivery so that a Standard Webhooks library accepts it and rejects a changed body", async () => {
    fixture.start();
    const id = await fixture.emit(["completed"]);
    await fixture.receiver.count(1);
    const [one] = fixture.receiver.calls;
    if (one === undefined) throw new Error("one arrived");
    const headers = one.headers as Record<string, string>;
    expect(new Webhook(fixture.secret).verify(one.text, headers)).to.include({ type: "completed", request_id: id });
    expect(one.body).to.include({ id: headers["webhook-id"] });
    expect(() => new Webhook(fixture.secret).verify(`${one.text} `, headers)).to.throw();
    await fixture.reach([["delivered", 1]]);
  });

  it("retries after an error on schedule, under the same id", async () => {
    fixture.receiver.respond = (_call, response) =>
      response.writeHead(fixture.receiver.calls.length === 1 ? 500 : 204).end();
    fixture.start();
    await fixture.emit(["completed"]);
    await fixture.reach([["pending", 1]]);
    const [failed] = await fixture.deliveries();
    expect(failed).to.include({ response_status: 500, error: "the receiver answered 500" });
    expect((failed?.next_at ?? 0) - fixture.clock).to.be.within(5_000, 5_500);
    fixture.advance(4_999);
    const due = await fixture.database.write((trx) =>
      takeDueDeliveries(trx, { ...taker(), now: fixture.clock, leaseUntil: fixture.clock }),
    );
    expect(due.taken).to.deep.equal([]);
    fixture.advance(501);
    await fixture.reach([["delivered", 2]]);
    expect(new Set(fixture.receiver.calls.map((one) => one.headers["webhook-id"])).size).to.equal(1);
  });

  it("stops retrying after the eighth try", async () => {
    fixture.receiver.respond = (_call, response) => response.writeHead(503).end();
    fixture.start();
    await fixture.emit(["completed"]);
    for (let tries = 1; tries < 8; tries++) {
      await fixture.reach([["pending", tries]]);
      fixture.advance(12 * HOUR);
    }
    await fixture.reach([["failed", 8]]);
    expect((await fixture.deliveries())[0]?.next_at).to.equal(null);
  });

  it("keeps the order of a request's events without delaying other requests", async () => {
    let refuse = "";
    fixture.receiver.respond = ({ text }, response) => response.writeHead(text.includes(refuse) ? 500 : 200).end();
    refuse = await fixture.emit(["sent", "completed"]);
    const other = await fixture.emit(["sent", "completed"]);
    fixture.start();
    await fixture.reach([
      ["pending", 1],
      ["pending", 0],
      ["delivered", 1],
      ["delivered", 1],
    ]);
    refuse = "nothing";
    fixture.advance(6_000);
    await fixture.reach([
      ["delivered", 2],
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
    ]);
    const typesOf = (id: string) =>
      fixture.receiver.calls.filter(({ text }) => text.includes(id)).map(({ body }) => body["type"]);
    expect(typesOf(other)).to.deep.equal(["sent", "completed"]);
    const last = fixture.receiver.calls.slice(-2).map(({ body }) => body["type"]);
    expect(new Set(last)).to.deep.equal(new Set(["sent", "completed"]));
  });

  it("delivers a long queue, each event once and those of a request in order", async () => {
    for (let count = 0; count < 60; count++) await fixture.emit(["sent", "completed"]);
    fixture.start();
    await fixture.reach(Array<[string, number]>(120).fill(["delivered", 1]));
    expect(fixture.receiver.calls).to.have.length(120);
    const typesOf = Map.groupBy(fixture.receiver.calls, ({ body }) => body["request_id"]);
    for (const calls of typesOf.values())
      expect(calls.map(({ body }) => body["type"])).to.deep.equal(["sent", "completed"]);
  });

  it("gives back what it has not sent as soon as it is told to stop, also while a receiver hangs", async () => {
    fixture.receiver.respond = (_call, response) => {
      if (fixture.receiver.calls.length <= 16) response.end();
    };
    for (let count = 0; count < 40; count++) await fixture.emit(["completed"]);
    const pending = async (fits: (nextAt: number) => boolean) =>
      (await fixture.deliveries()).filter(({ status, next_at: at }) => status === "pending" && fits(at ?? 0)).length;
    fixture.start();
    await fixture.receiver.count(20);
    // Four calls hang, and the others wait for their places.
    expect(await pending((at) => at > fixture.clock)).to.be.above(4);
    fixture.beginToStop();
    // The calls hang until the test ends.
    await eventually(async () => ((await pending((at) => at === 0)) === 20 ? true : undefined));
  });

  it("stores results late that could not be stored, and sends nothing twice", async () => {
    let failures = 0;
    const full = (write: () => Promise<unknown>) => {
      if (fixture.receiver.calls.length === 0 || failures > 0) return write();
      failures += 1;
      return Promise.reject(new Error("the disk is full"));
    };
    await withWrites(full, async () => {
      fixture.start();
      await fixture.emit(["completed"]);
      await fixture.reach([["delivered", 1]]);
    });
    expect([failures, fixture.receiver.calls.length]).to.deep.equal([1, 1]);
  });

  it("counts a try once if the connection is lost at the commit that stored it", async () => {
    let lost = 0;
    const losing = async (write: () => Promise<unknown>) => {
      const result = await write();
      if (lost > 0 || !(await fixture.deliveries()).some(({ tries }) => tries > 0)) return result;
      lost += 1;
      throw new Error("the connection was lost");
    };
    await withWrites(losing, async () => {
      fixture.receiver.respond = ({ body }, response) => response.writeHead(body["type"] === "sent" ? 500 : 200).end();
      fixture.start();
      await fixture.emit(["sent"]);
      await eventually(() => Promise.resolve(lost > 0 ? true : undefined));
      await fixture.emit(["completed"]);
      // The first result was stored again before this event was taken.
      await fixture.reach([
        ["pending", 1],
        ["delivered", 1],
      ]);
    });
  });

  it("delivers again what a process that died had taken but not recorded", async () => {
    await fixture.emit(["completed"]);
    const { taken } = await fixture.database.write((trx) =>
      takeDueDeliveries(trx, {
        ...taker(),
        now: fixture.clock,
        leaseUntil: fixture.clock + 60_000,
      }),
    );
    expect(taken).to.have.length(1);
    fixture.start();
    fixture.advance(60_001);
    await fixture.reach([["delivered", 1]]);
    expect(fixture.receiver.calls).to.have.length(1);
  });

  it("does not count a try when the signing secret cannot be decrypted", async () => {
    fixture.sealer = createSealer([{ id: "other", bytes: randomBytes(32) }]);
    fixture.start();
    await fixture.emit(["completed"]);
    const leased = await eventually(async () => {
      const [one] = await fixture.deliveries();
      return (one?.next_at ?? 0) > fixture.clock ? one : undefined;
    });
    expect(leased).to.include({ status: "pending", tries: 0 });
    expect(fixture.receiver.calls).to.deep.equal([]);
  });

  describe("given a delivery that cannot be taken, and one whose result cannot be stored, beside a thousand", () => {
    it("delivers the others, parks these, and delivers them once the cause is gone", async () => {
      const { database } = fixture;
      const untakable = await fixture.emit(["completed"]);
      const refused = await fixture.emit(["completed"]);
      for (let count = 0; count < 1_000; count++) await fixture.emit(["completed"]);
      const when = `new.request_id = '${refused}' and new.status = 'delivered' or new.request_id = '${untakable}'`;
      const cure = await poison(database, { table: "deliveries", event: "update", when });
      const delivered = async () => (await fixture.deliveries()).filter(({ status }) => status === "delivered").length;
      fixture.start();
      await eventually(async () => ((await delivered()) === 1_000 ? true : undefined));
      await eventually(async () => ((await parkedIds(database, "delivery")).length === 2 ? true : undefined));
      expect(fixture.lastError()).to.equal(null);
      const waiting = (await fixture.deliveries()).filter(({ status }) => status === "pending");
      expect(waiting.map(({ tries, next_at: at }) => [tries, at])).to.deep.equal([
        [0, 0],
        [0, fixture.clock + 60_000],
      ]);
      await cure();
      fixture.advance(60_000);
      await eventually(async () => ((await delivered()) === 1_002 ? true : undefined));
      expect(await parkedIds(database, "delivery")).to.deep.equal([]);
    });
  });
});

describe("nextTry", () => {
  const minute = 60_000;
  const waits = [0, 5_000, 5 * minute, 30 * minute, 120 * minute, 300 * minute, 600 * minute, 600 * minute];

  it("waits as documented plus up to a tenth, and ends after eight tries", () => {
    expect(waits.map((_, tries) => nextTry(tries, 1_000, 0))).to.deep.equal(waits.map((wait) => 1_000 + wait));
    expect(waits.map((_, tries) => nextTry(tries, 0, 1))).to.deep.equal(waits.map((wait) => Math.round(wait * 1.1)));
    // The store takes a longer wait for the mistake of a clock, and the delivery for due.
    expect(Math.max(...waits.map((_, tries) => nextTry(tries, 0, 1) ?? 0))).to.equal(LONGEST_DELIVERY_WAIT);
    expect([nextTry(8, 0, 0), nextTry(9, 0, 0)]).to.deep.equal([null, null]);
  });
});
