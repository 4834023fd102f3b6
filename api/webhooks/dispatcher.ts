import type { Logger } from "pino";
import { type Dispatcher as Agent, request } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import { liveSecrets, openSecrets, signatureHeaders } from "../keys/webhook-secrets.ts";
import { crashPoint } from "../shared/crash-point.ts";
import type { SlotLimits } from "../shared/fair-slots.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import { type Metrics, secondsSince, type WebhookOutcome } from "../shared/metrics.ts";
import type { Signal } from "../shared/signal.ts";
import { TaskPool, type TaskSpeed } from "../shared/task-pool.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { recordTry, type TryResult } from "../store/outbox/deliveries.ts";
import { type DueDelivery, renewDeliveries, takeDueDeliveries } from "../store/outbox/due-deliveries.ts";
import { disableWebhook } from "../store/outbox/webhooks.ts";
import { nextTry } from "./schedule.ts";

export interface DispatcherDeps {
  database: Database;
  sealer: Sealer;
  /** Connects only to public addresses. */
  agent: Agent;
  wake: Signal;
  logger: Logger;
  metrics: Pick<Metrics, "webhook">;
  now: () => number;
  lease: LeaseTimes;
}

/** All times in milliseconds. How long a receiver has to answer. */
const TIMEOUT = 15_000;
/** How often to look for retries that became due. */
const POLL = 1_000;
/** Deliveries at the same time: receivers that hang do not delay other apps. */
const SLOTS: SlotLimits = { shared: 32, ofApp: 4, most: 256 };
/** A receiver that takes longer than this to answer is slow: its app gets one slot. */
const SLOW = 5_000;

/** Delivers the events of the outbox: signed, at least once, in order for each request, with retries. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #loop: WorkLoop;
  readonly #tasks: TaskPool;
  /** Deliveries that are being sent. */
  readonly #sending = new Set<DueDelivery>();
  /** When their leases were renewed last (monotonic clock). */
  #renewedAt = performance.now();

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#tasks = new TaskPool(SLOTS, deps.wake);
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.wake,
      pollInterval: POLL,
      messages: {
        failed: "webhook deliveries cannot be read or recorded; retrying",
        recovered: "webhook deliveries can be read and recorded again",
      },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(), abort);
    await this.#tasks.drained();
  }

  async #step(): Promise<StepResult> {
    const { database, now, lease } = this.#deps;
    await this.#renew();
    if (this.#tasks.slots().free === 0) return "full";
    const { taken, more } = await database.write((trx) =>
      takeDueDeliveries(trx, { now: now(), leaseUntil: now() + lease.lasts, slots: this.#tasks.slots() }),
    );
    if (taken.length === 0) return more ? "again" : "idle";
    crashPoint("webhooks:taken");
    for (const delivery of taken) {
      this.#sending.add(delivery);
      this.#tasks.start(
        delivery.appId,
        () => this.#deliver(delivery).finally(() => this.#sending.delete(delivery)),
        // Nothing was recorded, so the lease expires and the delivery is sent again.
        (error) => {
          this.#loop.report(error);
        },
      );
    }
    return "again";
  }

  /** A receiver may take longer to answer than a lease lasts. */
  async #renew(): Promise<void> {
    const { database, now, lease } = this.#deps;
    if (performance.now() - this.#renewedAt < lease.renewEvery) return;
    this.#renewedAt = performance.now();
    const sending = [...this.#sending];
    if (sending.length > 0) await database.write((trx) => renewDeliveries(trx, sending, now() + lease.lasts));
  }

  async #deliver(delivery: DueDelivery): Promise<TaskSpeed> {
    const { database, logger, now } = this.#deps;
    const headers = await this.#headersFor(delivery);
    if (headers === null) return "in-time";
    const started = performance.now();
    const { status, error } = await this.#post(delivery, headers);
    const speed = performance.now() - started > SLOW ? "slow" : "in-time";
    crashPoint("webhooks:posted");
    const outcome = outcomeOf(status);
    this.#deps.metrics.webhook(outcome, secondsSince(started), delivery.payload);
    const delivered = outcome === "delivered";
    const gone = outcome === "gone";
    const result: TryResult = {
      responseStatus: status,
      error: delivered ? null : (error ?? `the receiver answered ${String(status)}`),
      nextAt: delivered || gone ? null : nextTry(delivery.tries + 1, now(), Math.random()),
    };
    const recorded = await database.write(async (trx) => {
      if (!(await recordTry(trx, delivery, result, now()))) return false;
      if (gone)
        await disableWebhook(trx, delivery.appId, delivery.url, "the receiver answered 410 to another event", now());
      return true;
    });
    crashPoint("webhooks:recorded");
    if (!recorded) {
      logger.info(
        { delivery: delivery.id, status },
        "a webhook was sent late: another process has taken it over, or it is over",
      );
      return speed;
    }
    if (!delivered) logger.warn({ delivery: delivery.id, status, reason: result.error }, "a webhook was not delivered");
    return speed;
  }

  /** @returns null when the secret cannot be decrypted. That is not the receiver's fault, so it does not count as a try. */
  async #headersFor(delivery: DueDelivery): Promise<Record<string, string> | null> {
    const { logger, now } = this.#deps;
    try {
      return await this.#sign(delivery, new Date(now()));
    } catch (error) {
      // The delivery's lease expires, and it is taken again.
      logger.error(
        { err: error, delivery: delivery.id },
        "a webhook's signing secret cannot be decrypted: check SECRET_KEYS; the delivery is retried",
      );
      return null;
    }
  }

  /** Sends once. Redirects are not followed, and the body of the answer is not read. */
  async #post(
    delivery: DueDelivery,
    headers: Record<string, string>,
  ): Promise<{ status: number | null; error: string | null }> {
    try {
      const response = await request(delivery.url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "user-agent": "moneta" },
        body: delivery.payload,
        dispatcher: this.#deps.agent,
        signal: AbortSignal.timeout(TIMEOUT),
      });
      response.body.on("error", () => undefined).destroy();
      return { status: response.statusCode, error: null };
    } catch (error) {
      return { status: null, error: describeFailure(error) };
    }
  }

  async #sign(delivery: DueDelivery, at: Date): Promise<Record<string, string>> {
    const secrets = liveSecrets(await openSecrets(this.#deps.sealer, delivery.secrets), at.getTime());
    return signatureHeaders(secrets, { id: delivery.eventId, at, payload: delivery.payload });
  }
}

/** @param status null: the receiver did not answer. */
function outcomeOf(status: number | null): WebhookOutcome {
  if (status === null) return "no_answer";
  if (status === 410) return "gone";
  return status >= 200 && status < 300 ? "delivered" : "refused";
}

/** Says in the app's delivery log what went wrong, without any address of the service's network. */
function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError")
    return `the receiver did not answer within ${(TIMEOUT / 1_000).toString()} seconds`;
  if ("code" in error && error.code === "BLOCKED_ADDRESS") return "the URL leads to an address that is not public";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : "connection failed";
}
