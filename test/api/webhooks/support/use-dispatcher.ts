import { randomBytes } from "node:crypto";

import pino from "pino";

import { createSealer } from "../../../../api/keys/sealer.ts";
import { sealSecrets } from "../../../../api/keys/webhook-secrets.ts";
import { createOutboundAgent } from "../../../../api/outbound/agent.ts";
import { leaseTimes } from "../../../../api/shared/lease.ts";
import { NO_METRICS } from "../../../../api/shared/metrics.ts";
import { Signal } from "../../../../api/shared/signal.ts";
import { enqueueEvents } from "../../../../api/store/outbox/events.ts";
import { Dispatcher } from "../../../../api/webhooks/dispatcher.ts";
import { WebhookReceiver } from "../../../../scripts/scene/receiver.ts";
import { openTestDatabase, type TestDatabase } from "../../../support/database.ts";
import { eventually } from "../../../support/eventually.ts";
import { addApp, addRequest, addWebhook, APP, creation } from "../../support/rows.ts";

/** Gives each test of a `describe` block a database with an app, the app's webhook receiver, and a dispatcher to start. */
export function useDispatcher(): DispatcherFixture {
  const fixture = new DispatcherFixture();
  beforeEach("create the database and the receiver", () => fixture.open());
  afterEach("stop the dispatcher and the receiver", () => fixture.close());
  return fixture;
}

class DispatcherFixture {
  readonly secret = `whsec_${randomBytes(24).toString("base64")}`;
  sealer = createSealer([{ id: "k", bytes: randomBytes(32) }]);
  database!: TestDatabase;
  receiver!: WebhookReceiver;
  /** The time that the dispatcher sees. */
  clock = Date.now();
  /** Why the dispatcher cannot work; null when it can. */
  lastError: () => string | null = () => null;
  #wake = new Signal();
  #stop: (() => Promise<void>) | null = null;
  #abort = new AbortController();

  /** For `useDispatcher` only, as `close`. */
  async open(): Promise<void> {
    this.database = await openTestDatabase();
    this.receiver = await WebhookReceiver.listen();
    this.sealer = createSealer([{ id: "k", bytes: randomBytes(32) }]);
    this.clock = Date.now();
    this.#wake = new Signal();
    await addApp(this.database);
    await this.register(APP, this.receiver.url);
  }

  async close(): Promise<void> {
    await this.stop();
    await this.receiver.close();
    await this.database.remove();
  }

  async register(
    app: string,
    url: string,
    secrets = [{ secret: this.secret, expires_at: null as number | null }],
    id = app,
  ): Promise<void> {
    const sealed = await sealSecrets(this.sealer, id, secrets);
    await this.database.write((trx) => trx.deleteFrom("webhooks").where("id", "=", id).execute());
    await addWebhook(this.database, app, 1, { id, url, secrets: sealed });
  }

  start(policy = { allowedHosts: new Set<string>(), allowLoopback: true }): void {
    const { database, sealer } = this;
    const abort = (this.#abort = new AbortController());
    const agent = createOutboundAgent(policy);
    const logger = pino({ level: "silent" });
    const dispatcher = new Dispatcher({
      database,
      sealer,
      agent,
      wake: this.#wake,
      logger,
      metrics: NO_METRICS,
      now: () => this.clock,
      leaseTimes: leaseTimes(15),
    });
    this.lastError = () => dispatcher.lastError;
    const running = dispatcher.run(abort.signal);
    this.#stop = async () => {
      abort.abort();
      this.receiver.respond = (_call, response) => response.end();
      await agent.destroy();
      await running;
    };
  }

  /** Tells the dispatcher to stop. It waits for the receivers that it has called. */
  beginToStop(): void {
    this.#abort.abort();
  }

  /** Stops the dispatcher. Does nothing when it does not run. */
  async stop(): Promise<void> {
    const stop = this.#stop;
    this.#stop = null;
    await stop?.();
  }

  /** Creates a request with these events, in order. @returns its id. */
  async emit(types: ("sent" | "completed")[], app = APP): Promise<string> {
    const row = await addRequest(this.database, creation(), { app });
    const request = { ...row, command: creation() };
    await this.database.write((trx) =>
      enqueueEvents(
        trx,
        types.map((type) => ({ request, type })),
        this.clock,
      ),
    );
    this.#wake.notify();
    return row.id;
  }

  deliveries() {
    return this.database.read
      .selectFrom("deliveries")
      .select(["status", "tries", "response_status", "response_body", "error", "next_at"])
      .orderBy("seq")
      .execute();
  }

  /** Waits until the deliveries have these states and numbers of tries. */
  async reach(expected: [status: string, tries: number][]): Promise<void> {
    const wanted = JSON.stringify(expected);
    await eventually(async () => {
      const states = (await this.deliveries()).map(({ status, tries }) => [status, tries]);
      return JSON.stringify(states) === wanted ? true : undefined;
    });
  }

  /** Moves the dispatcher's clock and wakes it. */
  advance(milliseconds: number): void {
    this.clock += milliseconds;
    this.#wake.notify();
  }
}
