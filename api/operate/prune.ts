import type { Logger } from "pino";

import { PRUNED_KINDS, type PrunedKind, type Removed, type Retention } from "../domain/retention.ts";
import { AdaptiveSize, GROWS_AT_ONCE } from "../shared/adaptive-size.ts";
import { logParked } from "../shared/isolate.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import { pause } from "../shared/pause.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { isDue, LONGEST_WAIT } from "../store/db/due.ts";
import { forgetParked, isOutage, parkedOf, parkRows, unparkRows } from "../store/db/parked-rows.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { countOld, largestStep, pruneSeries, pruneSome } from "../store/retention/kinds.ts";
import { RowNotPruned } from "../store/retention/prunable.ts";

interface PrunerDeps extends PruneDeps {
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

/** Shortest pause between two steps, in milliseconds. */
const PAUSE = 20;
/** A pause is this many times as long as the step before it. A step that waits for other writes is followed by a longer one. */
const PAUSE_FACTOR = 4;

interface PruneDeps {
  database: Database;
  retain: Retention;
  logger: Logger;
  now: () => number;
}

export type Pruned = Map<PrunedKind, Removed>;

/** What pruning would remove now. */
export async function countPrunable({ database, retain, now }: PruneDeps): Promise<Pruned> {
  const counted: Pruned = new Map();
  for (const kind of PRUNED_KINDS) {
    const days = retain[kind];
    if (days !== null) counted.set(kind, await countOld(database.read, kind, { now: now(), days }));
  }
  return counted;
}

/**
 * Removes what is older than the settings allow, in short transactions with pauses in between, so that calls and the pipeline do
 * not wait. Any number of processes may prune at the same time. A row that cannot be removed is parked.
 * @param done is called after each commit.
 * @throws what keeps a kind from being pruned. The other kinds are pruned before.
 */
export async function prune(
  deps: PruneDeps,
  abort: AbortSignal,
  done: (kind: PrunedKind, removed: Removed) => void,
): Promise<void> {
  const errors: unknown[] = [];
  for (const kind of PRUNED_KINDS) {
    const days = deps.retain[kind];
    if (days === null || abort.aborted) continue;
    try {
      await pruneKind({ ...deps, kind, days }, abort, done);
    } catch (error) {
      if (isOutage(error)) throw error;
      errors.push(error);
    }
  }
  if (errors.length > 1) throw new AggregateError(errors, "Several kinds of rows could not be pruned.");
  if (errors.length === 1) throw errors[0];
}

async function pruneKind(
  deps: PruneDeps & { kind: PrunedKind; days: number },
  abort: AbortSignal,
  done: (kind: PrunedKind, removed: Removed) => void,
): Promise<void> {
  const { database, logger, kind, days, now } = deps;
  const prefix = `${kind} `;
  const parked = (await parkedOf(database.read, "old_row")).filter(({ id }) => id.startsWith(prefix));
  const retried = parked.filter(({ next_at: at }) => isDue(at, now(), LONGEST_WAIT));
  const without = new Set(parked.filter((row) => !retried.includes(row)).map(({ id }) => id.slice(prefix.length)));
  const size = new AdaptiveSize(largestStep(kind), GROWS_AT_ONCE);
  for (let more = true; more && !abort.aborted;) {
    const started = performance.now();
    const most = size.value;
    try {
      const limits = { most, without: [...without] };
      const step = await database.write((trx) => pruneSome(trx, kind, { now: now(), days }, limits));
      more = step.more;
      size.accepted(most);
      if (step.rows > 0) done(kind, { rows: step.rows, bytes: step.bytes });
    } catch (error) {
      // The step is halved until the row that is the cause is alone.
      if (error instanceof RowNotPruned) {
        const row = { id: `${prefix}${error.key}`, error: error.cause };
        logParked(logger, "old_row", await database.write((trx) => parkRows(trx, "old_row", [row], now())));
        without.add(error.key);
      } else if (isOutage(error) || !size.refused(most)) throw error;
    }
    if (more) await pause(Math.max(PAUSE, PAUSE_FACTOR * (performance.now() - started)), abort);
  }
  const over = retried.filter(({ id }) => !without.has(id.slice(prefix.length)));
  if (!abort.aborted) await database.write((trx) => unparkRows(trx, "old_row", over));
}

/** Adds to the sum of a kind. */
export function addPruned(sums: Pruned, kind: PrunedKind, { rows, bytes }: Removed): void {
  const before = sums.get(kind) ?? { rows: 0, bytes: 0 };
  sums.set(kind, { rows: before.rows + rows, bytes: before.bytes + bytes });
}
