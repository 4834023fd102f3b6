import type { Logger } from "pino";

import { daysOf, PRUNED_KINDS, type PrunedKind, type Removed, type Retention } from "../domain/retention.ts";
import type { LeaseTimes } from "../shared/lease.ts";
import type { Metrics } from "../shared/metrics.ts";
import { pause } from "../shared/pause.ts";
import { Signal } from "../shared/signal.ts";
import { type StepResult, WorkLoop } from "../shared/work-loop.ts";
import type { Database } from "../store/db/database.ts";
import { forgetParked, isOutage, parkRows, unparkAll } from "../store/db/parked-rows.ts";
import { WorkLease } from "../store/db/work-lease.ts";
import { countOld, pruneSeries, pruneSome, RowNotPruned } from "../store/retention/prune.ts";

interface PrunerDeps extends PruneDeps {
  metrics: Pick<Metrics, "pruned">;
  leaseTimes: LeaseTimes;
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
    this.#lease = new WorkLease("pruner", { ...deps, times: deps.leaseTimes });
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
    const days = daysOf(retain, kind);
    if (days !== null) counted.set(kind, await countOld(database.read, kind, { now: now(), days }));
  }
  return counted;
}

/**
 * Removes what is older than the settings allow, in short transactions with pauses in between, so that calls and the pipeline do
 * not wait. Any number of processes may prune at the same time.
 * @param done is called after each commit.
 * @throws RowNotPruned, which names a row that keeps its kind from being pruned. The other kinds are pruned before.
 */
export async function prune(
  deps: PruneDeps,
  abort: AbortSignal,
  done: (kind: PrunedKind, removed: Removed) => void,
): Promise<void> {
  const { database, now } = deps;
  const refused: RowNotPruned[] = [];
  for (const kind of PRUNED_KINDS) {
    const days = daysOf(deps.retain, kind);
    if (days === null || abort.aborted) continue;
    try {
      await pruneKind(deps, { kind, days }, abort, done);
    } catch (error) {
      if (!(error instanceof RowNotPruned)) throw error;
      refused.push(error);
    }
  }
  if (abort.aborted) return;
  const rows = refused.map((error) => ({ id: error.id, error }));
  await database.write(async (trx) => {
    await unparkAll(trx, "old_row", rows);
    await parkRows(trx, "old_row", rows, now());
  });
  const [first, ...others] = refused;
  if (first === undefined) return;
  throw others.length === 0 ? first : new AggregateError(refused, refused.map(({ message }) => message).join("\n"));
}

/** If a step fails, rows are removed one by one, until the row that is the cause is named. */
async function pruneKind(
  { database, now }: PruneDeps,
  { kind, days }: { kind: PrunedKind; days: number },
  abort: AbortSignal,
  done: (kind: PrunedKind, removed: Removed) => void,
): Promise<void> {
  let most = Infinity;
  for (let more = true; more && !abort.aborted;) {
    const started = performance.now();
    try {
      const step = await database.write((trx) => pruneSome(trx, kind, { now: now(), days }, most));
      more = step.more;
      if (step.rows > 0) done(kind, { rows: step.rows, bytes: step.bytes });
    } catch (error) {
      if (isOutage(error) || most === 1) throw error;
      most = 1;
    }
    if (more) await pause(Math.max(PAUSE, PAUSE_FACTOR * (performance.now() - started)), abort);
  }
}

/** Adds to the sum of a kind. */
export function addPruned(sums: Pruned, kind: PrunedKind, { rows, bytes }: Removed): void {
  const before = sums.get(kind) ?? { rows: 0, bytes: 0 };
  sums.set(kind, { rows: before.rows + rows, bytes: before.bytes + bytes });
}
