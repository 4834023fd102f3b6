import type { Logger } from "pino";

import { ageOf, BACKLOG_SLOW, type Condition } from "../domain/conditions.ts";
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
export function watchBacklog({ database, logger, now }: BacklogWatchDeps) {
  let growing = false;
  /** Looks once. Logs when requests begin to wait too long, and when they no longer do. */
  const look = async () => {
    const waited = ageOf(await oldestUnsent(database.read), now());
    if (growing === waited > BACKLOG_SLOW) return;
    growing = !growing;
    if (growing)
      logger.warn(
        { condition: "backlog_growing" satisfies Condition, oldestSeconds: Math.round(waited / 1_000) },
        "requests wait too long to be sent: check that a process with the role relayer runs, and see its log",
      );
    else logger.info("requests are sent in time again");
  };
  const messages = { failed: "the backlog cannot be read; retrying", recovered: "the backlog can be read again" };
  const loop = new WorkLoop({ logger, wake: new Signal(), pollInterval: INTERVAL, messages });
  const step = async () => {
    await look();
    return "idle" as const;
  };
  return {
    look,
    get lastError() {
      return loop.lastError;
    },
    run: (abort: AbortSignal) => loop.run(step, abort),
  };
}
