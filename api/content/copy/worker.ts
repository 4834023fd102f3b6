import type { Logger } from "pino";

import { FaultBackoff } from "../../domain/backoff.ts";
import type { Condition } from "../../domain/conditions.ts";
import { MediaError } from "../../outbound/download.ts";
import { crashPoint } from "../../shared/crash-point.ts";
import { FairShares, type ShareLimits } from "../../shared/fair-shares.ts";
import { logParked } from "../../shared/isolate.ts";
import { holderIsGone, newLeaseHolder } from "../../shared/lease-holder.ts";
import { LeaseLost, type LeaseTimes, whileLeased } from "../../shared/lease.ts";
import { type MediaOutcome, type Metrics, secondsSince } from "../../shared/metrics.ts";
import type { Signal } from "../../shared/signal.ts";
import { TaskPool, type TaskSpeed } from "../../shared/task-pool.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Database } from "../../store/db/database.ts";
import { AT_ONCE } from "../../store/db/due.ts";
import { isOutage } from "../../store/db/parked-rows.ts";
import { LoneRuns } from "../../store/db/under-way.ts";
import {
  type MediaJob,
  parkMediaJobs,
  renewMediaJob,
  returnAbandonedJobs,
  returnMediaJob,
  leaseMediaJobs,
} from "../../store/media/media-jobs.ts";
import { endMediaJob, type MediaFailure, mediaFailure } from "../../store/media/media-results.ts";
import { mediaStoreProblem } from "../../store/media/media-store.ts";
import { hostContent } from "../../store/media/media.ts";
import { BlockStoreUnavailable, isStorageFault, storageFaultKey } from "../block-store.ts";
import { type CopiedContent, copyContent, NotSettledYet } from "./copy-content.ts";
import type { CopyDeps } from "./copy-media.ts";

interface MediaWorkerDeps extends CopyDeps {
  database: Database;
  signals: { media: Signal; results: Signal; hosted: Signal };
  logger: Logger;
  metrics: Pick<Metrics, "media">;
  now: () => number;
  leaseTimes: LeaseTimes;
  /** Default: its own. */
  loneRuns?: LoneRuns;
}

/** In milliseconds, like all times here. */
const POLL = 1_000;
/** Waits before the second, third and fourth try after an error that may be temporary. */
const RETRIES = [1_000, 4_000, 15_000];
/** Wait before a freeze looks again whether all earlier mints are final. */
const NOT_SETTLED_WAIT = 1_000;
/** Jobs at the same time: servers of some apps that hang do not delay other apps. */
const SHARES: ShareLimits = { shared: 20, ofApp: 10, most: 100 };
const NO_JOB: ShareLimits = { shared: 0, ofApp: 0, most: 0 };
const ONE_JOB: ShareLimits = { shared: 1, ofApp: 1, most: 1 };
/** Waits of the whole worker while the service cannot store blocks, as on a full disk. */
const FAULT_BACKOFF = { first: 1_000, longest: 60_000 };
/** After a job that failed and took longer than this, its app gets one place until a job ends otherwise. */
const SLOW = 5_000;

/** Stores the content that requests wait for. Then `MediaResults` changes the requests. */
export class MediaWorker {
  readonly #deps: MediaWorkerDeps;
  readonly #holder = newLeaseHolder();
  readonly #loop: WorkLoop;
  readonly #tasks: TaskPool;
  readonly #loneRuns: LoneRuns;
  /** Whether a job runs that must be alone. */
  #alone = false;
  readonly #fault = new FaultBackoff(FAULT_BACKOFF, () => performance.now());
  #started = false;

  constructor(deps: MediaWorkerDeps) {
    this.#deps = deps;
    this.#loneRuns = deps.loneRuns ?? new LoneRuns();
    this.#tasks = new TaskPool(SHARES, deps.signals.media);
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.signals.media,
      pollInterval: POLL,
      messages: {
        failed: "media jobs cannot be read, stored or recorded; retrying",
        recovered: "media jobs can be read, stored and recorded again",
      },
      keyOf: storageFaultKey,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(abort), abort);
    await this.#tasks.drained();
  }

  async #step(abort: AbortSignal): Promise<StepResult> {
    if (!this.#started) await this.#returnAbandoned();
    this.#started = true;
    if (this.#shares().free === 0) return "full";
    const probing = this.#fault.active;
    const found = await this.#take(abort);
    // The job that was taken during a fault shows whether the fault has passed.
    if (found > 0) return probing ? "full" : "again";
    // The fault began while this step looked for jobs.
    if (this.#fault.active !== probing) return "full";
    // No job shows whether the fault has passed. The next one will.
    this.#fault.clear();
    return "idle";
  }

  /** How many jobs may begin now. During a fault it is one, when its wait is over and all others have ended. */
  #shares(): FairShares {
    if (this.#alone) return new FairShares(NO_JOB);
    if (!this.#fault.active) return this.#tasks.shares();
    return new FairShares(this.#fault.waiting || this.#tasks.running > 0 ? NO_JOB : ONE_JOB);
  }

  #start(jobs: MediaJob[], abort: AbortSignal): void {
    for (const job of jobs) {
      this.#tasks.start(
        job.request.app_id,
        () => this.#run(job, abort),
        // Nothing was recorded.
        (error) => this.#notRecorded(job, error),
      );
    }
  }

  async #run(job: MediaJob, abort: AbortSignal): Promise<TaskSpeed> {
    this.#alone = job.crashes > 0;
    try {
      return await this.#loneRuns.run(job, job.request.app_id, () => this.#work(job, abort));
    } finally {
      this.#alone = false;
    }
  }

  async #notRecorded(job: MediaJob, error: unknown): Promise<void> {
    if (isStorageFault(error)) this.#fault.failed();
    // The lease expires and the job is taken again.
    if (isStorageFault(error) || isOutage(error)) this.#loop.report(error);
    else
      await this.#park(job, error).catch((failed: unknown) => {
        this.#loop.report(failed);
      });
  }

  /** An error of this service never fails a request. The job is tried again later. */
  async #park(job: MediaJob, error: unknown): Promise<void> {
    const { database, logger, now } = this.#deps;
    const failed = [{ id: job.request.id, fence: job.fence, error }];
    logParked(logger, "media_job", await database.write((trx) => parkMediaJobs(trx, failed, now())));
  }

  async #returnAbandoned(): Promise<void> {
    const { database, logger } = this.#deps;
    // This process has no job yet. A lease with its process id is from an earlier process that had the same id.
    const jobs = await database.write((trx) => returnAbandonedJobs(trx, holderIsGone));
    if (jobs > 0) logger.info({ jobs }, "took over media jobs of a process that has ended");
  }

  /** Takes and starts what is due. @returns how many jobs were found. */
  async #take(abort: AbortSignal): Promise<number> {
    const { database, logger, now } = this.#deps;
    const lease = { now: now(), leaseUntil: now() + this.#deps.leaseTimes.lasts, holder: this.#holder };
    // The places of the moment in which the write runs: jobs may have failed while it waited.
    const { taken, parked, aside } = await database.write((trx) =>
      leaseMediaJobs(trx, { ...lease, shares: this.#shares(), loneRuns: this.#loneRuns, running: this.#tasks.running }),
    );
    logParked(logger, "media_job", parked);
    this.#start(taken, abort);
    for (const job of aside) await this.#putAside(job);
    return taken.length + parked.length + aside.length;
  }

  /** A job at which processes died. Its request fails, so that nothing that it reserves is kept. */
  async #putAside(job: MediaJob): Promise<void> {
    const message =
      "The service stopped several times while it copied this file. Use another file, or another server for it.";
    await this.#fail(job, { errorCode: "media_unavailable", field: "copy_media", message });
    this.#deps.logger.error(
      { condition: "row_parked" satisfies Condition, kind: "media_job", id: job.request.id, crashes: job.crashes },
      "the process died several times while it copied these media, and nothing else: the request fails; report this",
    );
  }

  async #work(job: MediaJob, abort: AbortSignal): Promise<TaskSpeed> {
    const started = performance.now();
    let content: CopiedContent;
    try {
      const renewal = { renew: () => this.#renew(job), every: this.#deps.leaseTimes.renewEvery };
      content = await whileLeased(renewal, abort, (stop) => copyContent(this.#deps, job, stop));
      this.#stored();
    } catch (error) {
      await this.#notCopied(job, error, { abort, started });
      return performance.now() - started > SLOW ? "slow" : "in-time";
    }
    crashPoint("media:copied");
    await this.#finish(job, content);
    this.#deps.metrics.media("copied", secondsSince(started), job.request.id);
    this.#deps.logger.debug({ request: job.request.id }, "media job done");
    return "in-time";
  }

  async #notCopied(
    job: MediaJob,
    error: unknown,
    { abort, started }: { abort: AbortSignal; started: number },
  ): Promise<void> {
    const { database, now } = this.#deps;
    const giveBack = (dueAt: number) => database.write((trx) => returnMediaJob(trx, job, dueAt, "unfinished"));
    // Another process works on it now.
    if (error instanceof LeaseLost) return;
    // The next process works on it. Being stopped does not count as a try.
    if (abort.aborted) await giveBack(AT_ONCE);
    else if (error instanceof NotSettledYet)
      await database.write((trx) => returnMediaJob(trx, job, now() + NOT_SETTLED_WAIT, "ended"));
    else if (isStorageFault(error)) {
      this.#fault.failed();
      this.#loop.report(error);
      // Due at once, because the blocks of another process may be on another disk. This process waits.
      await giveBack(AT_ONCE);
    } else this.#deps.metrics.media(await this.#ended(job, error), secondsSince(started), job.request.id);
  }

  /** Blocks can be stored: ends the wait after a fault. */
  #stored(): void {
    if (!this.#fault.active) return;
    this.#fault.clear();
    this.#loop.recovered();
  }

  async #finish(job: MediaJob, { result, media }: CopiedContent): Promise<void> {
    const { database, signals, blocks, now } = this.#deps;
    const directories = result.kind === "directory" ? [result.cid] : [];
    // After an error nothing is known to be recorded: the lease expires.
    const done = await database.write(async (trx) => {
      const moved = await mediaStoreProblem(trx, blocks.name);
      if (moved !== null) throw new BlockStoreUnavailable(moved);
      if (!(await endMediaJob(trx, job, result))) return false;
      await hostContent(trx, media, directories, now());
      return true;
    });
    crashPoint("media:recorded");
    if (!done) return;
    signals.results.notify();
    signals.hosted.notify();
  }

  /** @throws LeaseLost */
  async #renew(job: MediaJob): Promise<void> {
    const { database, now, leaseTimes } = this.#deps;
    let held = true;
    try {
      held = await database.write((trx) => renewMediaJob(trx, job, now() + leaseTimes.lasts));
    } catch (error) {
      // Continue: the next renewal may succeed, and an expired lease only causes a second try.
      this.#loop.report(error);
    }
    if (!held) throw new LeaseLost(`the media job of request ${job.request.id} was taken over`);
  }

  /** Nothing was copied, and neither the disk nor the end of this process is the reason. */
  async #ended(job: MediaJob, error: unknown): Promise<MediaOutcome> {
    const { database, logger, now } = this.#deps;
    const problem = error instanceof MediaError ? error : null;
    const wait = RETRIES[job.tries];
    if (problem === null && !isOutage(error)) {
      await this.#park(job, error);
      return "retried";
    }
    // An outage never fails a request. The job is retried until it passes.
    if (problem === null || (problem.transient && wait !== undefined)) {
      logger.warn({ err: error, request: job.request.id }, "media could not be copied; retrying");
      const [dueAt, how] = [now() + (wait ?? RETRIES.at(-1) ?? 0), problem === null ? "ended" : "counts"] as const;
      await database.write((trx) => returnMediaJob(trx, job, dueAt, how));
      return "retried";
    }
    const { errorCode, field, message } = problem;
    await this.#fail(job, { errorCode, field, message });
    logger.info({ request: job.request.id, errorCode, field, reason: message }, "media cannot be copied");
    return "failed";
  }

  /** Ends the job. Its request fails. */
  async #fail(job: MediaJob, failure: Omit<MediaFailure, "kind">): Promise<void> {
    await this.#deps.database.write((trx) => endMediaJob(trx, job, mediaFailure(failure)));
    this.#deps.signals.results.notify();
  }
}
