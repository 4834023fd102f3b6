import type { Logger } from "pino";
import { Webhook } from "standardwebhooks";
import { type Dispatcher as Agent, request } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import { liveSecrets, openSecrets } from "../keys/webhook-secrets.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { pause } from "../shared/pause.ts";
import type { Signal } from "../shared/signal.ts";
import type { Database } from "../store/db/database.ts";
import { type DueDelivery, recordTry, takeDueDeliveries, type TryResult } from "../store/outbox/deliveries.ts";
import { disableWebhook } from "../store/outbox/webhooks.ts";
import { nextTry } from "./schedule.ts";

export interface DispatcherDeps {
  database: Database;
  sealer: Sealer;
  /** Connects to public addresses only. */
  agent: Agent;
  wake: Signal;
  logger: Logger;
  now: () => number;
}

/** Milliseconds. */
const TIMEOUT = 15_000;
/** Longer than any try takes. */
const LEASE = 60_000;
/** How often retries that became due are looked for. */
const LOOK = 1_000;
const BACK_OFF = 2_000;
/** Deliveries under way at once, */
const CONCURRENCY = 32;
/** and of one app, so that a receiver that hangs holds up nobody else's. */
const CONCURRENCY_OF_APP = 4;

/** Delivers the outbox: signed, at least once, in order for each request, with retries. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
  }

  async run(abort: AbortSignal): Promise<void> {
    const { database, wake, logger, now } = this.#deps;
    const running = new Map<Promise<void>, string>();
    while (!abort.aborted) {
      try {
        const free = CONCURRENCY - running.size;
        const due =
          free === 0
            ? []
            : await database.write((trx) =>
                takeDueDeliveries(trx, {
                  now: now(),
                  leaseUntil: now() + LEASE,
                  limit: free,
                  limitOfApp: CONCURRENCY_OF_APP,
                  underWay: [...running.values()],
                }),
              );
        if (due.length > 0) crashPoint("webhooks:taken");
        for (const delivery of due) {
          const task = this.#deliver(delivery)
            .catch((error: unknown) => {
              logger.error(
                { err: error, delivery: delivery.id },
                "a delivery could not be recorded; it is tried again",
              );
            })
            .finally(() => {
              running.delete(task);
              wake.notify();
            });
          running.set(task, delivery.appId);
        }
        if (due.length === 0 || running.size === CONCURRENCY) await wake.wait(LOOK, abort);
      } catch (error) {
        logger.error({ err: error }, "the outbox cannot be read");
        await pause(BACK_OFF, abort);
      }
    }
    await Promise.allSettled(running.keys());
  }

  async #deliver(delivery: DueDelivery): Promise<void> {
    const { database, logger, now } = this.#deps;
    const { status, error } = await this.#post(delivery);
    crashPoint("webhooks:posted");
    const delivered = status !== null && status >= 200 && status < 300;
    const gone = status === 410;
    const result: TryResult = {
      responseStatus: status,
      error: delivered ? null : (error ?? `the receiver answered ${String(status)}`),
      nextAt: delivered || gone ? null : nextTry(delivery.tries + 1, now(), Math.random()),
    };
    await database.write(async (trx) => {
      await recordTry(trx, delivery.id, result, now());
      if (gone)
        await disableWebhook(trx, delivery.appId, delivery.url, "the receiver answered 410 to another event", now());
    });
    crashPoint("webhooks:recorded");
    if (!delivered) logger.warn({ delivery: delivery.id, status, reason: result.error }, "a webhook was not delivered");
  }

  /** One try. Redirects are not followed; the answer's body is not read. */
  async #post(delivery: DueDelivery): Promise<{ status: number | null; error: string | null }> {
    const { agent, now } = this.#deps;
    // Not part of the try: a secret that cannot be opened is no fault of the receiver's, and uses up none of its tries.
    const headers = await this.#sign(delivery, new Date(now()));
    try {
      const response = await request(delivery.url, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "user-agent": "moneta" },
        body: delivery.payload,
        dispatcher: agent,
        signal: AbortSignal.timeout(TIMEOUT),
      });
      response.body.on("error", () => undefined).destroy();
      return { status: response.statusCode, error: null };
    } catch (error) {
      return { status: null, error: wordsOf(error) };
    }
  }

  async #sign(delivery: DueDelivery, at: Date): Promise<Record<string, string>> {
    const secrets = liveSecrets(await openSecrets(this.#deps.sealer, delivery.secrets), at.getTime());
    return {
      "webhook-id": delivery.eventId,
      "webhook-timestamp": Math.floor(at.getTime() / 1000).toString(),
      "webhook-signature": secrets
        .map((secret) => new Webhook(secret).sign(delivery.eventId, at, delivery.payload))
        .join(" "),
    };
  }
}

/** For the app's own delivery log: what went wrong, without addresses of this side. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown error";
  if (error.name === "TimeoutError") return "the receiver did not answer in time";
  if ("code" in error && error.code === "BLOCKED_ADDRESS") return "the URL leads to an address that is not public";
  return "code" in error && typeof error.code === "string" ? `connection failed (${error.code})` : "connection failed";
}
