import type { Logger } from "pino";

import { logParked } from "../../shared/isolate.ts";
import type { Metrics } from "../../shared/metrics.ts";
import type { Signal } from "../../shared/signal.ts";
import { type StepResult, WorkLoop } from "../../shared/work-loop.ts";
import type { Database } from "../../store/db/database.ts";
import { isOutage, parkRows } from "../../store/db/parked-rows.ts";
import { hasForgotten, releaseForgotten } from "../../store/media/media-roots.ts";
import { acceptMediaResult, waitingMediaResults } from "../../store/media/media-results.ts";
import { finalChanges } from "../../store/requests/requests.ts";

interface MediaResultsDeps {
  database: Database;
  signals: { requests: Signal; deliveries: Signal; results: Signal };
  logger: Logger;
  metrics: Pick<Metrics, "requests">;
  now: () => number;
}

/** In milliseconds. */
const POLL = 1_000;
/** Results, and forgotten files, of one step. */
const MOST = 100;

/**
 * Changes requests to what a process with the role `media` has found: that process may not do so itself. It runs with the relayer,
 * which needs the requests next.
 */
export class MediaResults {
  readonly #deps: MediaResultsDeps;
  readonly #loop: WorkLoop;

  constructor(deps: MediaResultsDeps) {
    this.#deps = deps;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: deps.signals.results,
      pollInterval: POLL,
      messages: {
        failed: "the results of media jobs cannot be read or stored; retrying",
        recovered: "the results of media jobs can be read and stored again",
      },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#loop.run(() => this.#step(abort), abort);
  }

  async #step(abort: AbortSignal): Promise<StepResult> {
    const { database, now } = this.#deps;
    const waiting = await waitingMediaResults(database.read, now(), MOST);
    for (const id of waiting) {
      if (abort.aborted) return "idle";
      await this.#accept(id);
    }
    const forgotten = await hasForgotten(database.read);
    if (forgotten) await database.write((trx) => releaseForgotten(trx, MOST));
    return waiting.length > 0 || forgotten ? "again" : "idle";
  }

  /** A result that does not fit its request is parked, and all others are accepted. */
  async #accept(id: string): Promise<void> {
    const { database, signals, logger, metrics, now } = this.#deps;
    try {
      const accepted = await database.write((trx) => acceptMediaResult(trx, id, now()));
      if (accepted === null) return;
      const { request, failure } = accepted;
      if (failure === null) {
        signals.requests.notify();
        return;
      }
      metrics.requests(finalChanges([{ request, outcome: failure }], now()));
      signals.deliveries.notify();
      logger.info({ request: id, errors: failure.errors }, "a request failed, because its media cannot be copied");
    } catch (error) {
      if (isOutage(error)) throw error;
      logParked(logger, "media_job", await database.write((trx) => parkRows(trx, "media_job", [{ id, error }], now())));
    }
  }
}
