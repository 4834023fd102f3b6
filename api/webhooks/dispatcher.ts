import type { Logger } from "pino";
import type { Dispatcher as Agent } from "undici";

import type { Sealer } from "../keys/sealer.ts";
import type { SigningKey } from "../keys/webhook-secrets.ts";
import { isRedirect } from "../shared/answer-text.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import { newLeaseHolder } from "../shared/lease-holder.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics, WebhookOutcome } from "../shared/metrics.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import { isOutage, parkRows } from "../store/db/parked-rows.ts";
import type { Trx } from "../store/db/sql.ts";
import { LoneRuns } from "../store/db/under-way.ts";
import { recordTries, type TryResult } from "../store/outbox/deliveries.ts";
import {
  dueDeliveries,
  type DueDelivery,
  parkDeliveries,
  renewDeliveries,
  returnDeliveries,
  takeDueDeliveries,
} from "../store/outbox/due-deliveries.ts";
import { disableWebhook } from "../store/outbox/webhooks.ts";
import { DeliveryLines, type ReceiverAnswer } from "./delivery-lines.ts";
import { WebhookSender, type Sent } from "./sender.ts";

interface DispatcherDeps {
  database: Database;
  sealer: Sealer;
  /** Connects only to public addresses. */
  agent: Agent;
  wake: Signal;
  logger: Logger;
  metrics: Pick<Metrics, "webhook">;
  now: () => number;
  lease: LeaseTimes;
  /** Default: its own. */
  lone?: LoneRuns;
}

/** All times in milliseconds. How often to look for retries that became due. */
const POLL = 1_000;
/** A receiver that takes longer than this to answer is slow: its app gets one slot. */
const SLOW = 5_000;
/**
 * Results are stored together: when there are this many, when half of the taken deliveries are sent, or when the first result has
 * waited this long.
 */
const MOST_RESULTS = 512;
const LONGEST_UNRECORDED = 50;

/**
 * Delivers the events of the outbox: signed, at least once, in order for each request, with retries. Each step is one
 * transaction: it stores the results of what was sent, and takes what is sent next.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #sender: WebhookSender;
  readonly #loop: WorkLoop;
  /** Wakes the loop of this worker alone. */
  readonly #wake = new Signal();
  readonly #holder = newLeaseHolder();
  readonly #lone: LoneRuns;
  /** Whether a delivery is being sent that must be alone. */
  #alone = false;
  readonly #lines = new DeliveryLines(() => performance.now());
  /** Calls that have not ended. */
  readonly #calls = new Set<Promise<void>>();
  /** What is leased to this process. */
  readonly #taken = new Set<DueDelivery>();
  /** Results that are not stored. */
  #results: Tried[] = [];
  #resultsTimer: NodeJS.Timeout | undefined;
  /** Taken and not sent. They are given back. */
  #unsent: DueDelivery[] = [];
  /** Taken, and to be tried again when a lease would have expired. */
  #later: DueDelivery[] = [];
  /** When the leases were renewed last (monotonic clock). */
  #renewedAt = performance.now();
  #stopping = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#lone = deps.lone ?? new LoneRuns();
    this.#sender = new WebhookSender(deps.sealer, deps.agent, () => acceptsUnboundValues(deps.database.read));
    deps.wake.listen(() => {
      this.#wake.raise();
    });
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: this.#wake,
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
    abort.addEventListener("abort", () => (this.#stopping = true), { once: true });
    await this.#loop.run(() => this.#step(), abort);
    // Other processes may go on at once, also while a receiver hangs. If this fails, they do when the leases expire.
    this.#giveBack(this.#lines.removeUnsent());
    await this.#storeLast();
    await Promise.all(this.#calls);
    await this.#storeLast();
  }

  async #storeLast(): Promise<void> {
    if (this.#results.length + this.#unsent.length + this.#later.length === 0) return;
    await this.#exchange(false).catch((error: unknown) => {
      this.#loop.report(error);
    });
  }

  async #step(): Promise<StepResult> {
    this.#giveBack(this.#lines.removeOverdue());
    return (await this.#exchange(true)) ? "again" : "idle";
  }

  /**
   * Stores what happened, and takes what is next, in one transaction.
   * @returns whether the queue was not read to its end.
   */
  async #exchange(takes: boolean): Promise<boolean> {
    const { database, logger, now, lease } = this.#deps;
    const [results, unsent, later] = [this.#results.splice(0), this.#unsent.splice(0), this.#later.splice(0)];
    clearTimeout(this.#resultsTimer);
    this.#resultsTimer = undefined;
    const renewedAt = this.#renewedAt;
    const renewed = this.#toRenew();
    try {
      const { recorded, taken, parked, more } = await database.writeGroup(async (trx) => {
        const [at, leaseUntil] = [now(), now() + lease.lasts];
        await renewDeliveries(trx, renewed, leaseUntil);
        const stored = await record(trx, results, at);
        await returnDeliveries(trx, unsent);
        await returnDeliveries(trx, later, leaseUntil);
        const options = { ...this.#room(results.length), now: at, leaseUntil };
        if (!takes || this.#alone || options.slots.free === 0)
          return { recorded: stored, taken: [], parked: [], more: false };
        return { recorded: stored, ...(await takeDueDeliveries(trx, options)) };
      });
      this.#recorded(results, recorded);
      logParked(logger, "delivery", parked);
      this.#begin(taken);
      return more;
    } catch (error) {
      // Nothing was stored. It is stored with the next results.
      this.#results.unshift(...results);
      this.#later.unshift(...later);
      if (isOutage(error)) {
        this.#unsent.unshift(...unsent);
        this.#renewedAt = renewedAt;
        throw error;
      }
      // A row is the cause. What was to be given back or renewed is due again when its lease expires.
      if (results.length > 0) {
        await this.#isolate();
        return true;
      }
      const hasTaken = takes && (await this.#takeOthers());
      if (!hasTaken && unsent.length + renewed.length === 0) throw error;
      return true;
    }
  }

  /** What may be taken now. @param stored results that the same transaction stores. */
  #room(stored: number) {
    const slots = this.#lines.room(this.#results.length);
    return { slots, holder: this.#holder, lone: this.#lone, running: this.#taken.size - stored };
  }

  #begin(taken: readonly DueDelivery[]): void {
    if (taken.length > 0) crashPoint("webhooks:taken");
    for (const delivery of taken) this.#taken.add(delivery);
    this.#lines.add(taken);
    this.#sendNext();
  }

  /**
   * Takes what is next without the deliveries that the database refuses to change. For these, only `parked_rows` is written.
   * @returns whether there were any.
   */
  async #takeOthers(): Promise<boolean> {
    const { database, logger, now, lease } = this.#deps;
    const take = async (part: readonly string[]) => {
      const options = { now: now(), leaseUntil: now() + lease.lasts, only: new Set(part) };
      const { taken, parked } = await database.writeGroup((trx) =>
        takeDueDeliveries(trx, { ...options, ...this.#room(0) }),
      );
      logParked(logger, "delivery", parked);
      this.#begin(taken);
    };
    const failed = await isolate(await dueDeliveries(database.read, now()), take, isOutage);
    const rows = failed.map(({ row: id, error }) => ({ id, error }));
    logParked(logger, "delivery", await database.writeGroup((trx) => parkRows(trx, "delivery", rows, now())));
    return rows.length > 0;
  }

  /** Stores the results of which at least one cannot be stored, and parks the deliveries of those. */
  async #isolate(): Promise<void> {
    const { database, now } = this.#deps;
    const left = new Set(this.#results.splice(0));
    const store = async (part: readonly Tried[]) => {
      this.#recorded(part, await database.writeGroup((trx) => record(trx, part, now())));
      for (const one of part) left.delete(one);
    };
    try {
      const failed = await isolate([...left], store, isOutage);
      await this.#park(failed.map(({ row, error }) => ({ delivery: row.delivery, error })));
      for (const { row } of failed) left.delete(row);
    } finally {
      this.#results.unshift(...left);
    }
  }

  /** They are sent again later: at least once, with the same id. */
  async #park(failed: readonly { delivery: DueDelivery; error: unknown }[]): Promise<void> {
    const { database, logger, now } = this.#deps;
    const rows = failed.map(({ delivery: { id, fence }, error }) => ({ id, fence, error }));
    const parked = await database.writeGroup((trx) => parkDeliveries(trx, rows, now()));
    logParked(logger, "delivery", parked);
    for (const { delivery } of failed) this.#taken.delete(delivery);
  }

  /** A receiver may take longer to answer than a lease lasts. */
  #toRenew(): DueDelivery[] {
    if (performance.now() - this.#renewedAt < this.#deps.lease.renewEvery) return [];
    this.#renewedAt = performance.now();
    return [...this.#taken];
  }

  /** They are no longer renewed: if they cannot be given back, their leases expire. */
  #giveBack(deliveries: readonly DueDelivery[]): void {
    for (const delivery of deliveries) this.#taken.delete(delivery);
    this.#unsent.push(...deliveries);
  }

  /** Sends what has a slot. */
  #sendNext(): void {
    if (this.#stopping) return;
    for (let next = this.#lines.next(); next !== null; next = this.#lines.next()) this.#send(next);
  }

  /** Sends what may use the slot that an app has given back: the app's next, or else one of another app. */
  #sendAfter(app: string): void {
    if (this.#stopping) return;
    let next = this.#lines.next(app);
    // With the slot in use again, no other app has more room than before.
    if (next === null) this.#sendNext();
    for (; next !== null; next = this.#lines.next(app)) this.#send(next);
  }

  #send(delivery: DueDelivery): void {
    this.#alone = delivery.crashes > 0;
    const call = this.#lone
      .run(delivery, delivery.appId, () => this.#deliver(delivery))
      .then((answer) => {
        this.#alone = false;
        this.#calls.delete(call);
        this.#lines.sent(delivery, answer);
        this.#sendAfter(delivery.appId);
        this.#announceResults();
      });
    this.#calls.add(call);
  }

  async #deliver(delivery: DueDelivery): Promise<ReceiverAnswer> {
    const { now, metrics } = this.#deps;
    try {
      const keys = this.#sender.keysOf(delivery) ?? (await this.#keysOf(delivery));
      if (keys === null) return "none";
      const started = performance.now();
      const sent = await this.#sender.send(delivery, keys, now());
      const took = performance.now() - started;
      crashPoint("webhooks:posted");
      const tried = triedAs(delivery, sent, now());
      metrics.webhook(tried.outcome, took / 1_000, delivery.payload);
      this.#results.push(tried);
      // The webhook is about to be disabled.
      if (tried.outcome === "gone") this.#giveBack(this.#lines.removeApp(delivery.appId));
      if (took > SLOW) return "slow";
      return sent.status === null ? "none" : "fast";
    } catch (error) {
      // If that fails, the delivery is sent again later.
      await this.#park([{ delivery, error }]).catch((failed: unknown) => {
        this.#tryLater(delivery);
        this.#loop.report(failed);
      });
      return "none";
    }
  }

  /** @returns null when the secret cannot be decrypted. That is not the receiver's fault, so it does not count as a try. */
  async #keysOf(delivery: DueDelivery): Promise<readonly SigningKey[] | null> {
    try {
      return await this.#sender.open(delivery);
    } catch (error) {
      this.#tryLater(delivery);
      this.#deps.logger.error(
        { err: error, delivery: delivery.id },
        "a webhook's signing secret cannot be decrypted: check SECRET_KEYS; the delivery is retried",
      );
      return null;
    }
  }

  /** Given back as if its lease had expired. Its row must not name this process: if it ended, that would count as a crash. */
  #tryLater(delivery: DueDelivery): void {
    this.#taken.delete(delivery);
    this.#later.push(delivery);
  }

  /** A commit for each result would take longer than the calls, so results are collected. */
  #announceResults(): void {
    const results = this.#results.length;
    if (results === 0) return;
    if (results >= Math.min(MOST_RESULTS, this.#taken.size / 2)) this.#wake.raise();
    else this.#resultsTimer ??= setTimeout(() => this.#wake.raise(), LONGEST_UNRECORDED);
  }

  #recorded(results: readonly Tried[], recorded: ReadonlySet<string>): void {
    const { logger } = this.#deps;
    if (results.length > 0) crashPoint("webhooks:recorded");
    for (const { delivery, outcome, result } of results) {
      this.#taken.delete(delivery);
      const status = result.responseStatus;
      if (!recorded.has(delivery.id))
        logger.info(
          { delivery: delivery.id, status },
          "a webhook was sent late: another process has taken it over, or it is over",
        );
      else if (outcome !== "delivered")
        logger.warn({ delivery: delivery.id, status, reason: result.error }, "a webhook was not delivered");
    }
  }
}

/** Stores the results, and disables the webhooks that are gone. @returns the ids of the deliveries whose results were stored. */
async function record(trx: Trx, results: readonly Tried[], now: number): Promise<Set<string>> {
  const recorded = await recordTries(
    trx,
    results.map(({ delivery: { id, fence }, result }) => ({ id, fence, result })),
    now,
  );
  const gone = results.filter(({ delivery, outcome }) => outcome === "gone" && recorded.has(delivery.id));
  // Of the answers for one app, some may be those of a URL that it has replaced.
  const webhooks = new Map(gone.map(({ delivery }) => [`${delivery.appId} ${delivery.url}`, delivery]));
  for (const { appId, url } of [...webhooks.values()].sort((a, b) => (a.appId < b.appId ? -1 : 1)))
    await disableWebhook(trx, appId, url, "the receiver answered 410 to another event", now);
  return recorded;
}

/** A delivery that was sent, and what came of it. */
interface Tried {
  delivery: DueDelivery;
  outcome: WebhookOutcome;
  result: TryResult;
}

function triedAs(delivery: DueDelivery, { status, body, error }: Sent, now: number): Tried {
  const outcome = outcomeOf(status);
  const [delivered, gone] = [outcome === "delivered", outcome === "gone"];
  const result = {
    responseStatus: status,
    responseBody: body,
    error: delivered ? null : (error ?? refusalOf(status)),
    nextAt: delivered || gone ? null : nextTry(delivery.tries + 1, now, Math.random()),
  };
  return { delivery, outcome, result };
}

function refusalOf(status: number | null): string {
  const answered = `the receiver answered ${String(status)}`;
  return isRedirect(status) ? `${answered}: redirects are not followed. Register the URL to which it leads` : answered;
}

/** @param status null: the receiver did not answer. */
function outcomeOf(status: number | null): WebhookOutcome {
  if (status === null) return "no_answer";
  if (status === 410) return "gone";
  return status >= 200 && status < 300 ? "delivered" : "refused";
}

/** Wait before each of the eight tries of a delivery, in milliseconds. The first is at once. */
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WAITS = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR] as const;

/** Up to a tenth is added at random, so that deliveries that failed together are not retried together. */
const JITTER = 0.1;

/**
 * @param tries how many were made so far.
 * @param random from 0 (inclusive) to 1 (exclusive).
 * @returns when the next try is due; null after the last one.
 */
export function nextTry(tries: number, now: number, random: number): number | null {
  const wait = WAITS[tries];
  return wait === undefined ? null : now + Math.round(wait * (1 + JITTER * random));
}
