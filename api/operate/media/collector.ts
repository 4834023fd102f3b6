import type { Logger } from "pino";

import type { BlockStore } from "../../content/block-store.ts";
import type { LeaseTimes } from "../../shared/lease.ts";
import type { Metrics } from "../../shared/metrics.ts";
import { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Database } from "../../store/db/database.ts";
import { isDue } from "../../store/db/due.ts";
import { WorkLease } from "../../store/db/work-lease.ts";
import { readMediaPlace } from "../../store/media/media-store.ts";
import { collectMedia, KEPT } from "./collect.ts";

interface MediaCollectorDeps {
  database: Database;
  blocks: BlockStore;
  metrics: Pick<Metrics, "collected">;
  logger: Logger;
  now: () => number;
  leaseTimes: LeaseTimes;
  /** Milliseconds from the end of one collection to the next, of all processes together. */
  every: number;
  /** Milliseconds between two checks whether it is time. Default: ten minutes. The first one is after the same time. */
  poll?: number;
}

const POLL = 600_000;
/** A collection reads all content that is in use: one that fails is not repeated at once. */
const BACKOFF = { first: 60_000, longest: 3_600_000 };

/** Deletes media that nothing uses while the service runs, as `media collect` does. Of several processes one does so at a time. */
export class MediaCollector {
  readonly #deps: MediaCollectorDeps;
  readonly #loop: WorkLoop;
  readonly #lease: WorkLease;
  readonly #poll: number;
  readonly #wake = new Signal();

  constructor(deps: MediaCollectorDeps) {
    this.#deps = deps;
    this.#lease = new WorkLease("media_collector", { ...deps, times: deps.leaseTimes });
    this.#poll = deps.poll ?? POLL;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: this.#wake,
      pollInterval: this.#poll,
      messages: {
        failed: "unused media cannot be collected; retrying",
        recovered: "unused media can be collected again",
      },
      backoff: BACKOFF,
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#wake.wait(this.#poll, abort);
    await this.#loop.run(async (stop) => {
      if (await this.#isDue()) await this.#lease.step(stop, (held) => this.#collect(held));
      return "idle";
    }, abort);
    await this.#lease.release();
  }

  async #isDue(): Promise<boolean> {
    const { blocks, database, every, now } = this.#deps;
    const { store, movingFrom } = await readMediaPlace(database.read);
    // While `media move` runs, and after it in a process with the old setting, content is somewhere else.
    if (movingFrom !== null || (store !== null && store !== blocks.name)) return false;
    const done = await this.#lease.lastDone();
    return done === null || isDue(done + every, now(), every);
  }

  async #collect(abort: AbortSignal): Promise<StepResult> {
    const { blocks, metrics, logger, now } = this.#deps;
    // Another process may have done it since the check.
    if (!(await this.#isDue())) {
      await this.#lease.release();
      return "idle";
    }
    const stopped = () => abort.aborted;
    try {
      const media = { database: this.#lease.fenced, blocks };
      const { kept, removed, removedBytes } = await collectMedia(media, now() - KEPT, abort);
      metrics.collected(removed, removedBytes);
      logger.info({ kept, removed, removedBytes }, "unused media were collected");
    } catch (error) {
      // Nothing was removed. The next process begins anew.
      if (stopped()) return "idle";
      throw error;
    }
    await this.#lease.finish();
    return "idle";
  }
}
