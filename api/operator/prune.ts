import { PRUNED_KINDS, type PrunedKind, type Removed, type Retention } from "../domain/retention.ts";
import { pause } from "../shared/pause.ts";
import type { Database } from "../store/db/database.ts";
import { countOld, pruneSome } from "../store/retention/kinds.ts";

/** Shortest pause between two steps, in milliseconds. */
const PAUSE = 20;
/** A pause is this many times as long as the step before it. A step that waits for other writes is followed by a longer one. */
const PAUSE_FACTOR = 4;

export interface PruneDeps {
  database: Database;
  retain: Retention;
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
 * not wait. Any number of processes may prune at the same time.
 * @param done is called after each commit.
 */
export async function prune(
  { database, retain, now }: PruneDeps,
  abort: AbortSignal,
  done: (kind: PrunedKind, removed: Removed) => void,
): Promise<void> {
  for (const kind of PRUNED_KINDS) {
    const days = retain[kind];
    for (let more = days !== null; more && days !== null && !abort.aborted;) {
      const started = performance.now();
      const step = await database.write((trx) => pruneSome(trx, kind, { now: now(), days }));
      more = step.more;
      if (step.rows > 0) done(kind, { rows: step.rows, bytes: step.bytes });
      if (more) await pause(Math.max(PAUSE, PAUSE_FACTOR * (performance.now() - started)), abort);
    }
  }
}

/** Adds to the sum of a kind. */
export function addPruned(sums: Pruned, kind: PrunedKind, { rows, bytes }: Removed): void {
  const before = sums.get(kind) ?? { rows: 0, bytes: 0 };
  sums.set(kind, { rows: before.rows + rows, bytes: before.bytes + bytes });
}
