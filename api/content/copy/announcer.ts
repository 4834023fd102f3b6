import { CID } from "multiformats/cid";
import type { Logger } from "pino";

import type { LeaseTimes } from "../../shared/lease.ts";
import type { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import { ANNOUNCEMENT_HOLDS, dueAnnouncements, putOffAnnouncement } from "../../store/media/announcements.ts";
import type { Database } from "../../store/db/database.ts";
import { WorkLease } from "../../store/db/work-lease.ts";

interface AnnouncerDeps {
  database: Database;
  /** Announces on the IPFS network that this node has the content. @returns how many peers stored the announcement. */
  announce: (root: CID, abort: AbortSignal) => Promise<number>;
  wake: Signal;
  logger: Logger;
  now: () => number;
  leaseTimes: LeaseTimes;
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

  constructor(deps: AnnouncerDeps) {
    this.#lease = new WorkLease("announcer", { ...deps, times: deps.leaseTimes });
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
    const { database, now } = this.#deps;
    const due = await dueAnnouncements(database.read, now(), CONCURRENCY);
    await Promise.all(due.map(({ cid }) => this.#announce(cid, abort)));
    return due.length > 0 ? "again" : "idle";
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
