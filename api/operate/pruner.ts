import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import { pruneSeries } from "../store/retention/kinds.ts";
import { forgetParked } from "../store/db/parked-rows.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { addPruned, prune, type Pruned, type PruneDeps } from "./prune.ts";

export interface PrunerDeps extends PruneDeps {
  metrics: Pick<Metrics, "pruned">;
  lease: LeaseTimes;
  /** When to prune, in milliseconds. Default: a minute after the start, then every ten minutes. */
  times?: { first: number; every: number };
}

const TIMES = { first: 60_000, every: 600_000 };

/** Prunes old rows while the service runs. Of several processes one prunes at a time. */
export class Pruner {
  readonly #deps: PrunerDeps;
  readonly #times: { first: number; every: number };
  readonly #loop: WorkLoop;
  readonly #lease: WorkLease;
  readonly #wake = new Signal();

  constructor(deps: PrunerDeps) {
    this.#lease = new WorkLease("pruner", { ...deps, times: deps.lease });
    this.#deps = { ...deps, database: this.#lease.fenced };
    this.#times = deps.times ?? TIMES;
    this.#loop = new WorkLoop({
      logger: deps.logger,
      wake: this.#wake,
      pollInterval: this.#times.every,
      messages: {
        failed: "old rows cannot be pruned; retrying",
        recovered: "old rows can be pruned again",
      },
    });
  }

  get lastError(): string | null {
    return this.#loop.lastError;
  }

  async run(abort: AbortSignal): Promise<void> {
    await this.#wake.wait(this.#times.first, abort);
    await this.#loop.run(async (stop) => (await this.#lease.step(stop, (held) => this.#prune(held))) ?? "idle", abort);
    await this.#lease.release();
  }

  async #prune(abort: AbortSignal): Promise<StepResult> {
    const { logger, metrics } = this.#deps;
    const sums: Pruned = new Map();
    try {
      await prune(this.#deps, abort, (kind, removed) => {
        addPruned(sums, kind, removed);
        metrics.pruned(kind, removed.rows);
      });
      const { database, now } = this.#deps;
      await database.write(async (trx) => {
        await pruneSeries(trx, now());
        await forgetParked(trx, now());
      });
    } finally {
      const rows = Object.fromEntries([...sums].map(([kind, removed]) => [kind, removed.rows]));
      if (sums.size > 0) logger.info({ rows }, "old rows were pruned");
    }
    // Until the next time, any process may prune.
    if (!abort.aborted) await this.#lease.release();
    return "idle";
  }
}
