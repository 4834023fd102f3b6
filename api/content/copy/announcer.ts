import { CID } from "multiformats/cid";
import type { Logger } from "pino";

import { logParked } from "../../shared/isolate.ts";
import { newLeaseHolder } from "../../shared/lease-holder.ts";
import type { LeaseTimes } from "../../shared/lease.ts";
import type { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import {
  ANNOUNCEMENT_HOLDS,
  type DueAnnouncement,
  dueAnnouncements,
  markAnnouncements,
  putOffAnnouncement,
} from "../../store/media/announcements.ts";
import type { Database } from "../../store/db/database.ts";
import { parkRows } from "../../store/db/parked-rows.ts";
import { failedAlone, LoneRuns } from "../../store/db/under-way.ts";
import { WorkLease } from "../../store/db/work-lease.ts";

interface AnnouncerDeps {
  database: Database;
  /** Announces on the IPFS network that this node has the content. @returns how many peers stored the announcement. */
  announce: (root: CID, abort: AbortSignal) => Promise<number>;
  wake: Signal;
  logger: Logger;
  now: () => number;
  lease: LeaseTimes;
  /** Default: its own. */
  lone?: LoneRuns;
}

/** All times in milliseconds. */
const POLL = 1_000;
/** Wait before an announcement that no peer stored is retried. */
const RETRY = 60_000;
/** Announcements at the same time. Each contacts many of the node's hundred peers. */
const CONCURRENCY = 8;

/** Announces hosted content on the IPFS network: when it arrives, and again before peers forget it. No request waits for it. */
export class Announcer {
  readonly #deps: AnnouncerDeps;
  readonly #loop: WorkLoop;
  /** Several nodes serve the content; one of them announces it. */
  readonly #lease: WorkLease;
  readonly #holder = newLeaseHolder();
  readonly #lone: LoneRuns;

  constructor(deps: AnnouncerDeps) {
    this.#lone = deps.lone ?? new LoneRuns();
    this.#lease = new WorkLease("announcer", { ...deps, times: deps.lease });
    this.#deps = { ...deps, database: this.#lease.fenced };
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.wake,
      pollInterval: POLL,
      messages: {
        failed: "IPFS announcements cannot be read or recorded; retrying",
        recovered: "IPFS announcements can be read and recorded again",
      },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(async (stop) => (await this.#lease.step(stop, (held) => this.#step(held))) ?? "idle", abort);
    await this.#lease.release();
  }

  async #step(abort: AbortSignal): Promise<StepResult> {
    const { database } = this.#deps;
    const taken = await this.#take();
    if (taken.length === 0) return "idle";
    await Promise.all(taken.map((one) => this.#lone.run(one, "", () => this.#announce(one.cid, abort))));
    // Being stopped is not a crash.
    if (abort.aborted) await database.write((trx) => markAnnouncements(trx, taken, null));
    return "again";
  }

  /** Takes what is due. It parks what ran alone and still killed its process. */
  async #take(): Promise<DueAnnouncement[]> {
    const { database, logger, now } = this.#deps;
    const due = await dueAnnouncements(database.read, now(), CONCURRENCY);
    if (due.length === 0) return [];
    const { run, aside } = this.#lone.sort(due, 0);
    const parked = await database.write(async (trx) => {
      await markAnnouncements(trx, run, this.#holder);
      await markAnnouncements(trx, aside, null);
      const failed = failedAlone(aside, ({ cid }) => cid);
      return parkRows(trx, "announcement", failed, now());
    });
    logParked(logger, "announcement", parked);
    return run;
  }

  async #announce(cid: string, abort: AbortSignal): Promise<void> {
    const { database, logger, now } = this.#deps;
    const peers = await this.#peersOf(cid, abort);
    // It stays due, and the next process announces it.
    if (abort.aborted) return;
    if (peers === 0) logger.warn({ cid }, "no IPFS peer stored the announcement of this content; retrying");
    else logger.debug({ cid, peers }, "announced");
    await database.write((trx) => putOffAnnouncement(trx, cid, now() + (peers === 0 ? RETRY : ANNOUNCEMENT_HOLDS)));
  }

  /** @returns how many peers stored the announcement. */
  async #peersOf(cid: string, abort: AbortSignal): Promise<number> {
    try {
      return await this.#deps.announce(CID.parse(cid), abort);
    } catch (error) {
      if (!abort.aborted) this.#deps.logger.debug({ err: error, cid }, "an IPFS announcement failed");
      return 0;
    }
  }
}
