import { randomBytes } from "node:crypto";

import { expect } from "chai";
import pino from "pino";
import { Webhook } from "standardwebhooks";

import { createSealer, type Sealer } from "../../../api/keys/sealer.ts";
import { createOutboundAgent } from "../../../api/outbound/agent.ts";
import { Signal } from "../../../api/shared/signal.ts";
import { takeDueDeliveries } from "../../../api/store/outbox/deliveries.ts";
import { enqueueEvents } from "../../../api/store/outbox/events.ts";
import { insertWebhook } from "../../../api/store/outbox/webhooks.ts";
import { Dispatcher } from "../../../api/webhooks/dispatcher.ts";
import { openTestDatabase, type TestDatabase } from "../../support/database.ts";
import { eventually } from "../../support/eventually.ts";
import { type Receiver, startReceiver } from "../../support/receiver.ts";
import { addApp, addRequest, APP, creation } from "../store/support/rows.ts";

const HOUR = 3_600_000;

describe("Dispatcher", function () {
  this.timeout(20_000);
  let database: TestDatabase;
  let receiver: Receiver;
  let sealer: Sealer;
  let clock: number;
  let wake: Signal;
  let stop: () => Promise<void>;
  const secret = `whsec_${randomBytes(24).toString("base64")}`;

  beforeEach(async () => {
    database = await openTestDatabase();
    receiver = await startReceiver();
    sealer = createSealer([{ id: "k", bytes: randomBytes(32) }]);
    clock = Date.now();
    wake = new Signal();
    stop = () => Promise.resolve();
    await addApp(database);
    await register(APP, receiver.url);
  });
  afterEach(async () => {
    await stop();
    await receiver.stop();
    await database.remove();
  });

  async function register(
    app: string,
    url: string,
    secrets = [{ secret, expires_at: null as number | null }],
  ): Promise<void> {
    const sealed = await sealer.seal(JSON.stringify(secrets));
    await database.write(async (trx) => {
      await trx.deleteFrom("webhooks").where("app_id", "=", app).execute();
      await insertWebhook(trx, {
        app_id: app,
        url,
        secrets: sealed,
        events: null,
        disabled_at: null,
        created_at: 1,
        updated_at: 1,
      });
    });
  }

  function start(policy = { allowedHosts: new Set<string>(), allowLoopback: true }): void {
    const abort = new AbortController();
    const agent = createOutboundAgent(policy);
    const dispatcher = new Dispatcher({
      database,
      sealer,
      agent,
      wake,
      logger: pino({ level: "silent" }),
      now: () => clock,
    });
    const running = dispatcher.run(abort.signal);
    stop = async () => {
      abort.abort();
      receiver.respond = (_received, response) => response.end();
      await agent.destroy();
      await running;
      stop = () => Promise.resolve();
    };
  }

  /** Events of one new request, in order. */
  async function happen(types: ("sent" | "completed")[], app = APP): Promise<string> {
    const row = await addRequest(database, creation(), { app });
    await database.write(async (trx) => {
      const request = { ...row, command: creation() };
      await enqueueEvents(
        trx,
        types.map((type) => ({ request, type })),
        clock,
      );
    });
    wake.notify();
    return row.id;
  }

  const deliveries = () =>
    database.read
      .selectFrom("deliveries")
      .select(["status", "tries", "response_status", "error", "next_at"])
      .orderBy("seq")
      .execute();
  const states = async () => (await deliveries()).map(({ status, tries }) => [status, tries]);
  const reach = (expected: unknown) =>
    eventually(async () => (JSON.stringify(await states()) === JSON.stringify(expected) ? true : undefined));
  function pass(milliseconds: number): void {
    clock += milliseconds;
    wake.notify();
  }

  it("signs each delivery so that a Standard Webhooks library accepts it and rejects a changed body", async () => {
    start();
    const id = await happen(["completed"]);
    await receiver.arrived(1);
    const [one] = receiver.received;
    if (one === undefined) throw new Error("one arrived");
    const headers = one.headers as Record<string, string>;
    expect(new Webhook(secret).verify(one.body, headers)).to.include({ type: "completed", request_id: id });
    expect(JSON.parse(one.body)).to.include({ id: headers["webhook-id"] });
    expect(() => new Webhook(secret).verify(`${one.body} `, headers)).to.throw();
    await reach([["delivered", 1]]);
  });

  it("signs with every valid secret during a rotation, and not with an expired one", async () => {
    const other = () => `whsec_${randomBytes(24).toString("base64")}`;
    const [old, gone] = [other(), other()];
    await register(APP, receiver.url, [
      { secret, expires_at: null },
      { secret: old, expires_at: clock + HOUR },
      { secret: gone, expires_at: clock - 1 },
    ]);
    start();
    await happen(["completed"]);
    await receiver.arrived(1);
    const { body = "", headers } = receiver.received[0] ?? {};
    for (const live of [secret, old]) new Webhook(live).verify(body, headers as Record<string, string>);
    expect(() => new Webhook(gone).verify(body, headers as Record<string, string>)).to.throw();
  });

  it("retries after an error on schedule, under the same id", async () => {
    receiver.respond = (_received, response) => response.writeHead(receiver.received.length === 1 ? 500 : 204).end();
    start();
    await happen(["completed"]);
    await reach([["pending", 1]]);
    const [failed] = await deliveries();
    expect(failed).to.include({ response_status: 500, error: "the receiver answered 500" });
    expect((failed?.next_at ?? 0) - clock).to.be.within(5_000, 5_500);
    pass(4_999);
    const due = await database.write((trx) =>
      takeDueDeliveries(trx, { now: clock, leaseUntil: clock, limit: 9, limitOfApp: 9, underWay: [] }),
    );
    expect(due).to.deep.equal([]);
    pass(501);
    await reach([["delivered", 2]]);
    expect(new Set(receiver.received.map((one) => one.headers["webhook-id"])).size).to.equal(1);
  });

  it("stops retrying after the eighth try", async () => {
    receiver.respond = (_received, response) => response.writeHead(503).end();
    start();
    await happen(["completed"]);
    for (let tries = 1; tries < 8; tries++) {
      await reach([["pending", tries]]);
      pass(12 * HOUR);
    }
    await reach([["failed", 8]]);
    expect((await deliveries())[0]?.next_at).to.equal(null);
  });

  it("keeps the order of a request's events without delaying other requests", async () => {
    let refuse = "";
    receiver.respond = ({ body }, response) => response.writeHead(body.includes(refuse) ? 500 : 200).end();
    refuse = await happen(["sent", "completed"]);
    const other = await happen(["sent", "completed"]);
    start();
    await reach([
      ["pending", 1],
      ["pending", 0],
      ["delivered", 1],
      ["delivered", 1],
    ]);
    refuse = "nothing";
    pass(6_000);
    await reach([
      ["delivered", 2],
      ["delivered", 1],
      ["delivered", 1],
      ["delivered", 1],
    ]);
    const typesOf = (id: string) =>
      receiver.received
        .filter(({ body }) => body.includes(id))
        .map(({ body }) => (JSON.parse(body) as { type: string }).type);
    expect(typesOf(other)).to.deep.equal(["sent", "completed"]);
    expect(
      new Set(receiver.received.slice(-2).map(({ body }) => (JSON.parse(body) as { type: string }).type)),
    ).to.deep.equal(new Set(["sent", "completed"]));
  });

  it("disables the webhook when the receiver answers 410", async () => {
    receiver.respond = (_received, response) => response.writeHead(410).end();
    start();
    await happen(["completed"]);
    await eventually(async () => {
      const webhook = await database.read.selectFrom("webhooks").select("disabled_at").executeTakeFirst();
      return webhook?.disabled_at == null ? undefined : true;
    });
    await happen(["completed"]);
    pass(24 * HOUR);
    await reach([["failed", 1]]);
    expect(receiver.received).to.have.length(1);
  });

  it("does not follow redirects", async () => {
    receiver.respond = ({ path }, response) =>
      response.writeHead(path === "/" ? 307 : 200, { location: "/elsewhere" }).end();
    start();
    await happen(["completed"]);
    await reach([["pending", 1]]);
    expect(receiver.received.map(({ path }) => path)).to.deep.equal(["/"]);
    expect((await deliveries())[0]).to.include({ response_status: 307 });
  });

  it("refuses loopback unless it is allowed, and does not reveal an address", async () => {
    start({ allowedHosts: new Set(), allowLoopback: false });
    await happen(["completed"]);
    await reach([["pending", 1]]);
    expect(receiver.received).to.deep.equal([]);
    expect((await deliveries())[0]).to.include({
      response_status: null,
      error: "the URL leads to an address that is not public",
    });
  });

  for (const url of [
    "http://localhost:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f.1:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://10.0.0.1/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[64:ff9b::7f00:1]/",
    "http://[2002:7f00:1::1]/",
  ]) {
    it(`does not connect to ${url}, even if it was stored`, async () => {
      await register(APP, url.replace("PORT", new URL(receiver.url).port));
      start({ allowedHosts: new Set(), allowLoopback: false });
      await happen(["completed"]);
      await reach([["pending", 1]]);
      expect(receiver.received).to.deep.equal([]);
      expect((await deliveries())[0]?.error).to.equal("the URL leads to an address that is not public");
    });
  }

  it("does not read the body of an answer, even if it is endless or compressed", async () => {
    const closed = new Promise<void>((resolve) => {
      receiver.respond = (_received, response) => {
        response.writeHead(200, { "content-encoding": "gzip", "content-length": "100000000000" });
        const more = () => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on("drain", more);
        response.on("close", resolve);
        more();
      };
    });
    start();
    await happen(["completed"]);
    await reach([["delivered", 1]]);
    await closed;
  });

  it("delivers again what a process that died had taken but not recorded", async () => {
    await happen(["completed"]);
    const taken = await database.write((trx) =>
      takeDueDeliveries(trx, { now: clock, leaseUntil: clock + 60_000, limit: 9, limitOfApp: 9, underWay: [] }),
    );
    expect(taken).to.have.length(1);
    start();
    pass(60_001);
    await reach([["delivered", 1]]);
    expect(receiver.received).to.have.length(1);
  });

  it("delivers to other apps while the receiver of one app hangs", async () => {
    const hanging = await startReceiver();
    hanging.respond = () => undefined;
    await addApp(database, "slow");
    await register("slow", hanging.url);
    for (let count = 0; count < 40; count++) await happen(["completed"], "slow");
    await happen(["completed"]);
    start();
    await receiver.arrived(1);
    await hanging.arrived(4);
    expect(hanging.received).to.have.length(4);
    await stop();
    await hanging.stop();
  });

  it("does not count a try when the signing secret cannot be decrypted", async () => {
    sealer = createSealer([{ id: "other", bytes: randomBytes(32) }]);
    start();
    await happen(["completed"]);
    const leased = await eventually(async () => {
      const [one] = await deliveries();
      return (one?.next_at ?? 0) > clock ? one : undefined;
    });
    expect(leased).to.include({ status: "pending", tries: 0 });
    expect(receiver.received).to.deep.equal([]);
  });
});
