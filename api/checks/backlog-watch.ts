import type { Logger } from "pino";

import { BACKLOG_SLOW, type Condition } from "../domain/conditions.ts";
import { Signal } from "../shared/signal.ts";
import { WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { oldestUnsent } from "../store/doctor/pipeline.ts";

/** Milliseconds between two checks. */
const INTERVAL = 30_000;

interface BacklogWatchDeps {
  database: Database;
  logger: Logger;
  now: () => number;
}

/** Reports in the log of a process that accepts requests when they wait too long, also when no relayer runs. */
export class BacklogWatch {
  readonly #deps: BacklogWatchDeps;
  readonly #loop: WorkLoop;
  #growing = false;

  constructor(deps: BacklogWatchDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: new Signal(),
      pollInterval: INTERVAL,
      messages: { failed: "the backlog cannot be read; retrying", recovered: "the backlog can be read again" },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(async () => {
      await this.look();
      return "idle";
    }, abort);
  }

  /** Looks once. Logs when requests begin to wait too long, and when they no longer do. */
  async look(): Promise<void> {
    const { database, logger, now } = this.#deps;
    const oldest = await oldestUnsent(database.read);
    const waited = oldest === null ? 0 : now() - oldest;
    const growing = waited > BACKLOG_SLOW;
    if (growing === this.#growing) return;
    this.#growing = growing;
    if (!growing) {
      logger.info("requests are sent in time again");
      return;
    }
    logger.warn(
      { condition: "backlog_growing" satisfies Condition, oldestSeconds: Math.round(waited / 1_000) },
      "requests wait too long to be sent: check that a process with the role relayer runs, and see its log",
    );
  }
}
