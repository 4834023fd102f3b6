import type { Logger } from "pino";

import { type Command, isMint, MEDIA_FIELDS } from "../domain/command.ts";
import { crashPoint } from "../shared/crash-point.ts";
import { holderIsGone, newLeaseHolder } from "../shared/lease-holder.ts";
import { pause } from "../shared/pause.ts";
import type { Signal } from "../shared/signal.ts";
import { addAnnouncement } from "../store/media/announcements.ts";
import type { Database } from "../store/db/database.ts";
import { AT_ONCE } from "../store/db/due.ts";
import { insertMedia, type StoredMedia } from "../store/media/media.ts";
import {
  failMediaJob,
  finishMediaJob,
  type MediaJob,
  renewMediaJob,
  returnAbandonedJobs,
  returnMediaJob,
  takeMediaJobs,
} from "../store/media/media-jobs.ts";
import { addPin } from "../store/media/pins.ts";
import { copyMedia, type CopyDeps } from "./copy-media.ts";
import { makeFrozenDirectory, NotSettledYet } from "./frozen-directory.ts";
import { MediaError } from "./media-error.ts";

export interface MediaWorkerDeps extends CopyDeps {
  database: Database;
  signals: { requests: Signal; deliveries: Signal; media: Signal; hosted: Signal };
  logger: Logger;
  now: () => number;
}

/** All times in milliseconds. A process that dies keeps its jobs from others for no longer than a lease. */
const LEASE = 15_000;
const RENEW = 5_000;
const LOOK = 1_000;
const BACK_OFF = 2_000;
/** Waits before the second and every further try of what may pass by itself. */
const RETRIES = [1_000, 4_000, 15_000];
/** Jobs under way at once, */
const CONCURRENCY = 20;
/** and of one app, so that servers that hang hold up nobody else's. */
const CONCURRENCY_OF_APP = 10;

/** Brings the content that requests wait for, and lets the requests go on. */
export class MediaWorker {
  readonly #deps: MediaWorkerDeps;
  readonly #holder = newLeaseHolder();

  constructor(deps: MediaWorkerDeps) {
    this.#deps = deps;
  }

  async run(abort: AbortSignal): Promise<void> {
    const { signals, logger } = this.#deps;
    const running = new Map<Promise<void>, string>();
    let started = false;
    while (!abort.aborted) {
      try {
        if (!started) await this.#takeUp();
        started = true;
        const jobs = await this.#take([...running.values()]);
        for (const job of jobs) {
          const task = this.#work(job, abort)
            .catch((error: unknown) => {
              logger.error(
                { err: error, request: job.request.id },
                "copying media could not be recorded; it is tried again",
              );
            })
            .finally(() => {
              running.delete(task);
              signals.media.notify();
            });
          running.set(task, job.request.app_id);
        }
        if (jobs.length === 0 || running.size >= CONCURRENCY) await signals.media.wait(LOOK, abort);
      } catch (error) {
        logger.error({ err: error }, "the media jobs cannot be read");
        await pause(BACK_OFF, abort);
      }
    }
    await Promise.allSettled(running.keys());
  }

  async #takeUp(): Promise<void> {
    const { database, logger } = this.#deps;
    // Nothing of this process runs yet: its own id in a lease is one that it has inherited.
    const jobs = await database.write((trx) => returnAbandonedJobs(trx, holderIsGone));
    if (jobs > 0) logger.info({ jobs }, "took up media jobs that were left unfinished");
  }

  async #take(apps: string[]): Promise<MediaJob[]> {
    const { database, now } = this.#deps;
    const limit = CONCURRENCY - apps.length;
    if (limit <= 0) return [];
    const lease = { now: now(), leaseUntil: now() + LEASE, holder: this.#holder };
    return database.write((trx) =>
      takeMediaJobs(trx, { ...lease, limit, limitOfApp: CONCURRENCY_OF_APP, underWay: apps }),
    );
  }

  async #work(job: MediaJob, abort: AbortSignal): Promise<void> {
    const { database, signals, logger, now } = this.#deps;
    const lost = new AbortController();
    const renewing = setInterval(() => {
      void this.#renew(job, lost);
    }, RENEW);
    const stop = AbortSignal.any([abort, lost.signal]);
    try {
      const { command, media } = await this.#prepare(job.request.command, stop);
      const made = command.kind === "freeze-metadata" && command.directory !== null ? [command.directory] : [];
      crashPoint("media:copied");
      const done = await database.write(async (trx) => {
        if (!(await finishMediaJob(trx, job, command, now()))) return false;
        for (const item of media) await insertMedia(trx, item, now());
        for (const cid of [...made, ...media.map((item) => item.cid)]) {
          await addPin(trx, cid, now());
          await addAnnouncement(trx, cid);
        }
        return true;
      });
      crashPoint("media:recorded");
      if (!done) return;
      signals.requests.notify();
      signals.hosted.notify();
    } catch (error) {
      if (lost.signal.aborted) return;
      if (abort.aborted) {
        // Whoever starts next goes on with it.
        await database.write((trx) => returnMediaJob(trx, job, AT_ONCE, false));
        return;
      }
      if (error instanceof NotSettledYet) await database.write((trx) => returnMediaJob(trx, job, now() + LOOK, false));
      else await this.#fail(job, error);
    } finally {
      clearInterval(renewing);
    }
    logger.debug({ request: job.request.id }, "media job done");
  }

  async #renew(job: MediaJob, lost: AbortController): Promise<void> {
    const { database, logger, now } = this.#deps;
    try {
      if (!(await database.write((trx) => renewMediaJob(trx, job, now() + LEASE)))) lost.abort();
    } catch (error) {
      // The next renewal may do better; a lease that runs out costs a second try and nothing else.
      logger.warn({ err: error, request: job.request.id }, "the lease of a media job was not renewed");
    }
  }

  /** The command with the content's addresses in it. */
  async #prepare(command: Command, stop: AbortSignal): Promise<{ command: Command; media: StoredMedia[] }> {
    if (command.kind === "freeze-metadata") {
      return { command: { ...command, directory: await makeFrozenDirectory(this.#deps, command, stop) }, media: [] };
    }
    if (!isMint(command) || command.kind === "mint-erc1155" || command.metadata === null) return { command, media: [] };
    const media: StoredMedia[] = [];
    const metadata = { ...command.metadata };
    for (const field of MEDIA_FIELDS) {
      const url = metadata[field];
      if (url === undefined || url === "") continue;
      const stored = await copyMedia(this.#deps, url, stop).catch((error: unknown) => {
        throw error instanceof MediaError ? new FieldProblem(field, error) : error;
      });
      media.push(stored);
      metadata[field] = `ipfs://${stored.cid}`;
    }
    return { command: { ...command, metadata }, media };
  }

  async #fail(job: MediaJob, error: unknown): Promise<void> {
    const { database, signals, logger, now } = this.#deps;
    const problem = error instanceof FieldProblem ? error : null;
    const wait = RETRIES[job.tries];
    // Faults of this side (a full disk, say) are no reason to fail a request: they are tried again until they pass.
    if (problem === null || (problem.cause.transient && wait !== undefined)) {
      logger.warn({ err: error, request: job.request.id }, "media could not be copied; it is tried again");
      await database.write((trx) => returnMediaJob(trx, job, now() + (wait ?? RETRIES.at(-1) ?? 0), problem !== null));
      return;
    }
    const { errorCode, message } = problem.cause;
    const errors = [{ field: problem.field, code: errorCode, message }];
    await database.write((trx) => failMediaJob(trx, job, { ok: false, errorCode, errors }, now()));
    signals.deliveries.notify();
    logger.info(
      { request: job.request.id, errorCode, field: problem.field, reason: message },
      "media could not be copied: the request failed",
    );
  }
}

/** Which field's media cannot be had. */
class FieldProblem extends Error {
  override readonly name = "FieldProblem";
  readonly field: string;
  override readonly cause: MediaError;

  constructor(field: string, cause: MediaError) {
    super(cause.message);
    this.field = field;
    this.cause = cause;
  }
}
