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
  leaseTimes: LeaseTimes;
  /** Default: its own. */
  loneRuns?: LoneRuns;
}

/** Deliveries that are posted at the same time: receivers that hang do not delay other webhooks. */
const PLACES = { shared: 32, ofWebhook: 4, most: 256 };
/** Of these, an app has so many beside one place for each of its webhooks, which nobody else takes. */
const MORE_OF_APP = PLACES.ofWebhook - 1;
/** All times in milliseconds. How often to look for retries that became due. */
const POLL = 1_000;
/** A receiver that takes longer than this to answer is slow: its webhook gets one place until an answer is fast. */
const SLOW = 5_000;
/** What a webhook's share has not posted by then is released: the URL and the secrets may have changed. */
const LONGEST_SHARE = 2_000;

/** Delivers the events of the outbox: signed, at least once, in order for each request and each token, with retries. */
export class Dispatcher {
  readonly #deps: DispatcherDeps;
  readonly #sender: WebhookSender;
  readonly #loop: WorkLoop;
  /** Wakes the loop of this worker alone. */
  readonly #wake = new Signal();
  readonly #holder = newLeaseHolder();
  readonly #loneRuns: LoneRuns;
  /** Webhooks whose receivers are slow. */
  readonly #slow = new Set<string>();
  /** By webhook. */
  readonly #places = new FairShares({ ...PLACES, ofApp: PLACES.ofWebhook }, [], this.#slow);
  /** The places of an app that are not the first of a webhook: with more webhooks it does not get more of them. */
  readonly #more = new FairShares({ ...PLACES, ofApp: MORE_OF_APP });
  /** What each webhook has leased and is posting now. */
  readonly #shares = new Map<string, Share>();
  /** What is leased to this process, until its result is recorded; null: it has none yet. */
  readonly #leased = new Map<DueDelivery, Result | null>();
  /** When the leases were renewed last (monotonic clock). */
  #renewedAt = performance.now();
  #stopping = false;

  constructor(deps: DispatcherDeps) {
    this.#deps = deps;
    this.#loneRuns = deps.loneRuns ?? new LoneRuns();
    this.#sender = new WebhookSender(deps.sealer, deps.agent, () => acceptsUnboundValues(deps.database.read));
    deps.wake.listen(() => {
      this.#wake.notify();
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
    await this.#loop.run(() => this.#deliver(), abort);
    const shares = [...this.#shares.values()];
    // Other processes may go on at once, also while a receiver hangs.
    for (const { waiting } of shares) await this.#release(waiting);
    await Promise.all(shares.map(({ done }) => done));
    // What cannot be recorded is posted again by another process when its lease expires.
    await this.#record().catch((error: unknown) => {
      this.#loop.report(error);
    });
  }

  /**
   * The way of a delivery: due, leased, posted, recorded. A step does not wait for receivers: what it leases is posted while the next
   * steps run. So it begins with the end of the way of what was posted since the last step. That makes the next event of the
   * same subject due, in the same commit, and this step finds it.
   */
  async #deliver(): Promise<StepResult> {
    const { database, now } = this.#deps;
    await this.#renewLeases();
    await this.#record();
    const ended = await database.writeGroup((trx) => closeAbandoned(trx, now()));
    if (this.#places.free === 0 || this.#isOneAlone()) return ended ? "again" : "full";
    // The webhooks take turns. A webhook that still posts gets no more: its receiver may hang.
    const due = await dueDeliveries(database.read, now(), [...this.#shares.keys()]);
    // From this commit on, no other process posts them.
    const { leased, more } = await this.#lease(due);
    if (leased.length > 0) crashPoint("webhooks:taken");
    for (const [webhook, share] of Map.groupBy(leased, ({ webhookId }) => webhookId)) this.#post(webhook, share);
    return ended || more ? "again" : "idle";
  }

  /** Whether a delivery runs at which a process died: nothing may run beside it. */
  #isOneAlone(): boolean {
    return [...this.#leased.keys()].some(({ crashes }) => crashes > 0);
  }

  /** A receiver may take longer to answer than a lease lasts. */
  async #renewLeases(): Promise<void> {
    const { database, now, leaseTimes } = this.#deps;
    if (performance.now() - this.#renewedAt < leaseTimes.renewEvery) return;
    this.#renewedAt = performance.now();
    const leased = [...this.#leased.keys()];
    await database.writeGroup((trx) => putOffDeliveries(trx, leased, now() + leaseTimes.lasts, this.#holder));
  }

  /** @returns `more`: whether the queue was not read to its end. */
  async #lease(due: readonly DueDelivery[]): Promise<{ leased: DueDelivery[]; more: boolean }> {
    const { database, now, leaseTimes } = this.#deps;
    const leased: DueDelivery[] = [];
    let more = due.length === MOST_FOUND;
    const refused = await withoutRefused(due, async (part) => {
      const by = { holder: this.#holder, loneRuns: this.#loneRuns, running: this.#leased.size };
      const options = { ...by, now: now(), leaseUntil: now() + leaseTimes.lasts };
      const done = await database.writeGroup((trx) => leaseDeliveries(trx, part, options));
      this.#logParked(done.parked);
      more &&= !done.someMustRunAlone;
      leased.push(...done.leased);
      for (const delivery of done.leased) this.#leased.set(delivery, null);
    });
    // The database refuses to change them, so only `parked_rows` is written.
    const rows = refused.map(({ row: { id }, error }) => ({ id, error }));
    if (rows.length > 0) this.#logParked(await database.writeGroup((trx) => parkRows(trx, "delivery", rows, now())));
    return { leased, more: more && leased.length + rows.length > 0 };
  }

  /** Posts a webhook's share, in as many places as the webhook gets. */
  #post(webhook: string, share: DueDelivery[]): void {
    const app = share[0]?.appId ?? "";
    let places = 0;
    while (places < share.length && this.#takePlace(webhook, app, places === 0)) places += 1;
    // Each place takes the next one from this iterator. What is left in it is released.
    const waiting = share.values();
    const end = performance.now() + LONGEST_SHARE;
    const isOver = () => this.#stopping || performance.now() > end || this.#slow.has(webhook);
    const postInTurn = async () => {
      for (const delivery of waiting) {
        await this.#loneRuns.run(delivery, webhook, () => this.#postOne(delivery));
        if (isOver()) return;
      }
    };
    const done = Promise.all(Array.from({ length: places }, postInTurn)).then(async () => {
      await this.#release(waiting);
      this.#places.release(webhook, places);
      this.#more.release(app, Math.max(0, places - 1));
      this.#shares.delete(webhook);
      this.#wake.notify();
    });
    this.#shares.set(webhook, { waiting, done });
  }

  #takePlace(webhook: string, app: string, isFirst: boolean): boolean {
    if (!this.#places.take(webhook)) return false;
    if (isFirst || this.#more.take(app)) return true;
    this.#places.release(webhook);
    return false;
  }

  /** Signs and posts a delivery once. If nothing comes of it, it is posted again later: at least once, with the same id. */
  async #postOne(delivery: DueDelivery): Promise<void> {
    const { now, logger, metrics } = this.#deps;
    const started = performance.now();
    try {
      const sent = await this.#sender.send(delivery, now());
      const took = performance.now() - started;
      crashPoint("webhooks:posted");
      const posted = postedAs(delivery, sent, now());
      metrics.webhook(posted.outcome, took / 1_000, delivery.payload);
      if (took > SLOW) this.#slow.add(delivery.webhookId);
      else this.#slow.delete(delivery.webhookId);
      this.#leased.set(delivery, posted);
    } catch (error) {
      if (!(error instanceof SealError)) {
        this.#leased.set(delivery, { kind: "not posted", delivery, error });
        return;
      }
      // It is not the receiver's fault, so it does not count as a try: the delivery is due again when its lease expires.
      this.#leased.delete(delivery);
      logger.error(
        { err: error, delivery: delivery.id },
        "a webhook's signing secret cannot be decrypted: check SECRET_KEYS; the delivery is retried",
      );
    }
  }

  /** Records what was posted, and parks what cannot be posted or recorded. What this does not reach is left to the next step. */
  async #record(): Promise<void> {
    const { database, now } = this.#deps;
    const posted = [...this.#leased.values()].filter((one) => one?.kind === "posted");
    const refused = await withoutRefused(posted, async (part) => {
      this.#recorded(part, await database.writeGroup((trx) => recordPosted(trx, part, now())));
    });
    const notPosted = [...this.#leased.values()].filter((one) => one?.kind === "not posted");
    const failed = [...notPosted, ...refused.map(({ row: { delivery }, error }) => ({ delivery, error }))];
    if (failed.length === 0) return;
    const rows = failed.map(({ delivery: { id, fence }, error }) => ({ id, fence, error }));
    this.#logParked(await database.writeGroup((trx) => parkDeliveries(trx, rows, now())));
    for (const { delivery } of failed) this.#leased.delete(delivery);
  }

  #recorded(posted: readonly Posted[], recorded: ReadonlySet<string>): void {
    const { logger } = this.#deps;
    crashPoint("webhooks:recorded");
    for (const { delivery, outcome, result } of posted) {
      this.#leased.delete(delivery);
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

  /** What was leased and not posted is due at once. If this fails, the leases expire. */
  async #release(waiting: Share["waiting"]): Promise<void> {
    const { database } = this.#deps;
    const unsent = [...waiting];
    for (const delivery of unsent) this.#leased.delete(delivery);
    if (unsent.length === 0) return;
    await database
      .writeGroup((trx) => putOffDeliveries(trx, unsent, AT_ONCE, null))
      .catch((error: unknown) => {
        this.#loop.report(error);
      });
  }

  #logParked(parked: readonly ParkedRow[]): void {
    logParked(this.#deps.logger, "delivery", parked);
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
async function recordPosted(trx: Trx, results: readonly Posted[], now: number): Promise<Set<string>> {
  const recorded = await recordTries(
    trx,
    results.map(({ delivery: { id, fence }, result }) => ({ id, fence, result })),
    now,
  );
  const gone = results.filter(({ delivery, outcome }) => outcome === "gone" && recorded.has(delivery.id));
  // Of the answers for one webhook, some may be those of a URL that it has replaced.
  const webhooks = new Map(gone.map(({ delivery }) => [`${delivery.webhookId} ${delivery.url}`, delivery]));
  for (const { webhookId: id, appId: app_id, url } of [...webhooks.values()].sort(byWebhook))
    await disableWebhook(trx, { id, app_id, url }, "the receiver answered 410 to another event", now);
  return recorded;
}

/** Every transaction locks webhooks in this order. */
function byWebhook(a: DueDelivery, b: DueDelivery): number {
  return a.webhookId < b.webhookId ? -1 : 1;
}

/** The deliveries that are leased for a webhook. @param waiting for a place. @param done resolves when all were posted or released. */
interface Share {
  waiting: IterableIterator<DueDelivery>;
  done: Promise<void>;
}

/** A delivery that was posted, and what came of it. */
interface Posted {
  kind: "posted";
  delivery: DueDelivery;
  outcome: WebhookOutcome;
  result: TryResult;
}

/** What came of a delivery that was leased: it was posted, or could not be for a reason of this service. */
type Result = Posted | { kind: "not posted"; delivery: DueDelivery; error: unknown };

function postedAs(delivery: DueDelivery, { status, body, error }: Sent, now: number): Posted {
  const outcome = outcomeOf(status);
  const [delivered, gone] = [outcome === "delivered", outcome === "gone"];
  const result = {
    responseStatus: status,
    responseBody: body,
    error: delivered ? null : (error ?? refusalOf(status)),
    nextAt: delivered || gone ? null : nextTry(delivery.tries + 1, now, Math.random()),
  };
  return { kind: "posted", delivery, outcome, result };
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
