import { CID } from "multiformats/cid";
import type { Logger } from "pino";

import { pause } from "../shared/pause.ts";
import type { Signal } from "../shared/signal.ts";
import { ANNOUNCEMENT_HOLDS, dueAnnouncements, putOffAnnouncement } from "../store/media/announcements.ts";
import type { Database } from "../store/db/database.ts";

export interface AnnouncerDeps {
  database: Database;
  /** Tells the network that content is here. @returns how many peers have noted it. */
  announce: (root: CID, abort: AbortSignal) => Promise<number>;
  wake: Signal;
  logger: Logger;
  now: () => number;
}

/** All times in milliseconds. */
const LOOK = 1_000;
const BACK_OFF = 2_000;
/** Until what nobody has noted is tried again. */
const RETRY = 60_000;
/** Announced side by side: each asks a good part of its hundred peers. */
const CONCURRENCY = 8;

/** Tells the IPFS network what is hosted, when it arrives and again before the network forgets it. No request waits for it. */
export class Announcer {
  readonly #deps: AnnouncerDeps;

  constructor(deps: AnnouncerDeps) {
    this.#deps = deps;
  }

  async run(abort: AbortSignal): Promise<void> {
    const { database, wake, logger, now } = this.#deps;
    while (!abort.aborted) {
      try {
        const due = await dueAnnouncements(database.read, now(), CONCURRENCY);
        if (due.length === 0) await wake.wait(LOOK, abort);
        else await Promise.all(due.map((cid) => this.#announce(cid, abort)));
      } catch (error) {
        logger.error({ err: error }, "what is to be announced cannot be read or recorded");
        await pause(BACK_OFF, abort);
      }
    }
  }

  async #announce(cid: string, abort: AbortSignal): Promise<void> {
    const { database, announce, logger, now } = this.#deps;
    let peers = 0;
    try {
      peers = await announce(CID.parse(cid), abort);
    } catch (error) {
      if (!abort.aborted) logger.debug({ err: error, cid }, "announcing failed");
    }
    // Whoever starts next goes on with it.
    if (abort.aborted) return;
    if (peers === 0) logger.warn({ cid }, "no IPFS peer has noted that this is here; it is tried again");
    else logger.debug({ cid, peers }, "announced");
    await database.write((trx) => putOffAnnouncement(trx, cid, now() + (peers === 0 ? RETRY : ANNOUNCEMENT_HOLDS)));
  }
}
