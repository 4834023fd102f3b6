import type { Logger } from "pino";
import type { Dispatcher as Agent } from "undici";

import { type Sealer, SealError } from "../keys/sealer.ts";
import { isRedirect } from "../shared/answer-text.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { FairShares } from "../shared/fair-shares.ts";
import { isolate, logParked } from "../shared/isolate.ts";
import { newLeaseHolder } from "../shared/lease-holder.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics, WebhookOutcome } from "../shared/metrics.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { acceptsUnboundValues } from "../store/db/meta.ts";
import { isOutage, type ParkedRow, parkRows } from "../store/db/parked-rows.ts";
import type { Trx } from "../store/db/sql.ts";
import { LoneRuns } from "../store/db/under-way.ts";
import { closeAbandoned } from "../store/outbox/abandoned-deliveries.ts";
import { recordTries, type TryResult } from "../store/outbox/deliveries.ts";
import {
  dueDeliveries,
  type DueDelivery,
  type FoundDelivery,
  leaseDeliveries,
  MOST_FOUND,
  parkDeliveries,
  putOffDeliveries,
} from "../store/outbox/due-deliveries.ts";
import { disableWebhook } from "../store/outbox/webhooks.ts";
import { type Sent, WebhookSender } from "./sender.ts";

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

/** Deliveries that are sent at the same time: receivers that hang do not delay other apps. */
const SENDING = { shared: 32, ofApp: 4, most: 256 };
/** All times in milliseconds. How often to look for retries that became due. */
const POLL = 1_000;
/** A receiver that takes longer than this to answer is slow: its app gets one slot until an answer is fast. */
const SLOW = 5_000;
/** What a batch has not sent by then is given back: the URL and the secrets may have changed. */
const LONGEST_BATCH = 2_000;
/** Results are stored together: when half of the taken deliveries are sent, or when the first result has waited this long. */
const LONGEST_UNRECORDED = 50;

/**
 * Delivers the events of the outbox: signed, at least once, in order for each request, with retries. Each step stores the
 * results of what was sent, and takes a batch for each app that has none: one commit for many deliveries.
 */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #sender: WebhookSender;
  readonly #loop: WorkLoop;
  /** Wakes the loop of this worker alone. */
  readonly #wake = new Signal();
  readonly #holder = newLeaseHolder();
  readonly #lone: LoneRuns;
  readonly #slow = new Set<string>();
  /** The batch of each app that is being sent. */
  readonly #batches = new Map<string, Batch>();
  /** What is leased to this process: the batches, and deliveries whose results are not stored. */
  readonly #taken = new Set<DueDelivery>();
  /** Results that are not stored. */
  #results: Tried[] = [];
  #resultsTimer: NodeJS.Timeout | undefined;
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
    const batches = [...this.#batches.values()];
    // Other processes may go on at once, also while a receiver hangs.
    for (const { waiting } of batches) await this.#giveBack(waiting);
    await Promise.all(batches.map(({ sent }) => sent));
    // What cannot be stored is sent again by another process when its lease expires.
    await this.#storeResults().catch((error: unknown) => {
      this.#loop.report(error);
    });
  }

  async #step(): Promise<StepResult> {
    const { database, now } = this.#deps;
    await this.#renew();
    await this.#storeResults();
    const ended = await database.writeGroup((trx) => closeAbandoned(trx, now()));
    return (await this.#take()) || ended ? "again" : "idle";
  }

  /** A receiver may take longer to answer than a lease lasts. */
  async #renew(): Promise<void> {
    const { database, now, lease } = this.#deps;
    if (performance.now() - this.#renewedAt < lease.renewEvery) return;
    this.#renewedAt = performance.now();
    const taken = [...this.#taken];
    await database.writeGroup((trx) => putOffDeliveries(trx, taken, now() + lease.lasts, this.#holder));
  }

  async #storeResults(): Promise<void> {
    const { database, now } = this.#deps;
    clearTimeout(this.#resultsTimer);
    this.#resultsTimer = undefined;
    const left = new Set(this.#results.splice(0));
    if (left.size === 0) return;
    const store = async (part: readonly Tried[]) => {
      this.#recorded(part, await database.writeGroup((trx) => record(trx, part, now())));
      for (const one of part) left.delete(one);
    };
    try {
      const refused = await withoutRefused([...left], store);
      await this.#park(refused.map(({ row, error }) => ({ delivery: row.delivery, error })));
      for (const { row } of refused) left.delete(row);
    } finally {
      this.#results.unshift(...left);
    }
  }

  /** Takes batches of the apps that have none, and sends them. @returns whether the queue was not read to its end. */
  async #take(): Promise<boolean> {
    const { database, now, lease } = this.#deps;
    const running = [...this.#batches].flatMap(([app, { slots }]) => Array<string>(slots).fill(app));
    const slots = new FairShares(SENDING, running, this.#slow);
    if (slots.free === 0 || [...this.#taken].some(({ crashes }) => crashes > 0)) return false;
    const found = await dueDeliveries(database.read, now(), [...this.#batches.keys()]);
    let more = found.length === MOST_FOUND;
    const take = async (part: readonly FoundDelivery[]) => {
      const by = { holder: this.#holder, lone: this.#lone, running: this.#taken.size };
      const options = { ...by, now: now(), leaseUntil: now() + lease.lasts };
      const { taken, parked, waits } = await database.writeGroup((trx) => leaseDeliveries(trx, part, options));
      this.#logParked(parked);
      more &&= !waits && taken.length > 0;
      if (taken.length > 0) crashPoint("webhooks:taken");
      for (const delivery of taken) this.#taken.add(delivery);
      for (const [app, batch] of Map.groupBy(taken, ({ appId }) => appId)) this.#send(app, batch, slots);
    };
    const refused = await withoutRefused(found, take);
    if (refused.length === 0) return more;
    // The database refuses to change them, so only `parked_rows` is written.
    const rows = refused.map(({ row: { id }, error }) => ({ id, error }));
    this.#logParked(await database.writeGroup((trx) => parkRows(trx, "delivery", rows, now())));
    return true;
  }

  /** Sends a batch in as many slots as the app gets. It waits for one that this process has of the app already. */
  #send(app: string, waiting: DueDelivery[], free: FairShares): void {
    const before = this.#batches.get(app);
    let slots = before?.slots ?? 0;
    while (slots < waiting.length && free.take(app)) slots += 1;
    const sent = Promise.resolve(before?.sent)
      .then(() => this.#sendIn(slots, waiting))
      .then(() => {
        if (this.#batches.get(app)?.sent === sent) this.#batches.delete(app);
        this.#wake.raise();
      });
    this.#batches.set(app, { slots, waiting, sent });
  }

  async #sendIn(slots: number, waiting: DueDelivery[]): Promise<void> {
    const end = performance.now() + LONGEST_BATCH;
    const isOver = (app: string) => this.#stopping || performance.now() > end || this.#slow.has(app);
    const send = async () => {
      for (let next = waiting.shift(); next !== undefined; next = isOver(next.appId) ? undefined : waiting.shift()) {
        const delivery = next;
        await this.#lone.run(delivery, delivery.appId, () => this.#deliver(delivery));
        this.#announce();
      }
    };
    await Promise.all(Array.from({ length: slots }, send));
    await this.#giveBack(waiting);
  }

  /** If this fails, their leases expire. */
  async #giveBack(waiting: DueDelivery[]): Promise<void> {
    const unsent = waiting.splice(0);
    for (const delivery of unsent) this.#taken.delete(delivery);
    if (unsent.length === 0) return;
    const { database } = this.#deps;
    await database
      .writeGroup((trx) => putOffDeliveries(trx, unsent, AT_ONCE, null))
      .catch((error: unknown) => {
        this.#loop.report(error);
      });
  }

  /** A commit for each result would take longer than the calls, so results are collected. */
  #announce(): void {
    if (this.#results.length >= this.#taken.size / 2) this.#wake.raise();
    else this.#resultsTimer ??= setTimeout(() => this.#wake.raise(), LONGEST_UNRECORDED);
  }

  /** Sends a delivery once. If nothing comes of it, it is sent again later: at least once, with the same id. */
  async #deliver(delivery: DueDelivery): Promise<void> {
    const { now, metrics } = this.#deps;
    try {
      const started = performance.now();
      const sent = await this.#sender.send(delivery, now());
      const took = performance.now() - started;
      crashPoint("webhooks:posted");
      const tried = triedAs(delivery, sent, now());
      metrics.webhook(tried.outcome, took / 1_000, delivery.payload);
      if (took > SLOW) this.#slow.add(delivery.appId);
      else this.#slow.delete(delivery.appId);
      this.#results.push(tried);
    } catch (error) {
      const ended = error instanceof SealError ? this.#tryLater(delivery, error) : this.#park([{ delivery, error }]);
      // If this fails, its lease expires.
      await ended.catch((failed: unknown) => {
        this.#taken.delete(delivery);
        this.#loop.report(failed);
      });
    }
  }

  /** That a secret cannot be decrypted is not the receiver's fault, so it does not count as a try. */
  async #tryLater(delivery: DueDelivery, error: SealError): Promise<void> {
    const { database, logger, now, lease } = this.#deps;
    logger.error(
      { err: error, delivery: delivery.id },
      "a webhook's signing secret cannot be decrypted: check SECRET_KEYS; the delivery is retried",
    );
    await database.writeGroup((trx) => putOffDeliveries(trx, [delivery], now() + lease.lasts, null));
    this.#taken.delete(delivery);
  }

  async #park(failed: readonly { delivery: DueDelivery; error: unknown }[]): Promise<void> {
    if (failed.length === 0) return;
    const { database, now } = this.#deps;
    const rows = failed.map(({ delivery: { id, fence }, error }) => ({ id, fence, error }));
    this.#logParked(await database.writeGroup((trx) => parkDeliveries(trx, rows, now())));
    for (const { delivery } of failed) this.#taken.delete(delivery);
  }

  #logParked(parked: readonly ParkedRow[]): void {
    logParked(this.#deps.logger, "delivery", parked);
  }

  #recorded(results: readonly Tried[], recorded: ReadonlySet<string>): void {
    const { logger } = this.#deps;
    crashPoint("webhooks:recorded");
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

/** Does work on rows, once more on those that the database refuses. @returns the rows that it refuses again. */
async function withoutRefused<Row>(rows: readonly Row[], work: (rows: readonly Row[]) => Promise<void>) {
  try {
    if (rows.length > 0) await work(rows);
    return [];
  } catch (error) {
    if (isOutage(error)) throw error;
    return isolate(rows, work, isOutage);
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

/** Deliveries of an app. @param waiting for a slot. @param sent resolves when all were sent or given back. */
interface Batch {
  slots: number;
  waiting: DueDelivery[];
  sent: Promise<void>;
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
