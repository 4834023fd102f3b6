import { z } from "zod";

import { LeaseLost } from "../../shared/lease.ts";
import type { Trx } from "../db/sql.ts";
import { type MetaKey, readMeta, replaceMeta, writeMetaOnce } from "../db/meta.ts";
import { isFree } from "../db/work-lease.ts";

const KEY: MetaKey = "reconcile";

const stored = z.strictObject({
  id: z.string(),
  holder: z.string().nullable(),
  fence: z.number(),
  until: z.number(),
  searchedTo: z.number(),
});
type Stored = z.infer<typeof stored>;

/** A run of `reconcile` that this process holds. A run that was interrupted goes on under the same id. */
export interface Run {
  id: string;
  /** Fencing token: grows with each holder. */
  fence: number;
  /** Last block in which all transactions of the service's lanes are known to the database; -1: none. */
  searchedTo: number;
}

/**
 * Takes the unfinished run, or begins one.
 * @param begin.id of the run if a new one begins. @param begin.anew whether an unfinished run is given up.
 * @returns null when another process holds the run.
 */
export async function takeRun(
  trx: Trx,
  begin: { id: string; anew: boolean },
  lease: { holder: string; now: number; lasts: number; isGone: (holder: string) => boolean },
): Promise<Run | null> {
  const text = await readMeta(trx, KEY);
  const before = text === null ? null : stored.parse(JSON.parse(text));
  if (before !== null && !isFree(before, lease, lease.isGone)) return null;
  const goesOn = before !== null && before.holder !== null && !begin.anew;
  const run: Stored = {
    id: goesOn ? before.id : begin.id,
    holder: lease.holder,
    fence: (before?.fence ?? 0) + 1,
    until: lease.now + lease.lasts,
    searchedTo: goesOn ? before.searchedTo : -1,
  };
  const next = JSON.stringify(run);
  const taken =
    text === null ? (await writeMetaOnce(trx, KEY, next)) === next : await replaceMeta(trx, KEY, text, next);
  return taken ? { id: run.id, fence: run.fence, searchedTo: run.searchedTo } : null;
}

/** Checks the lease, extends it, and stores the run's progress: the first statement of every write. @throws LeaseLost */
export async function holdRun(trx: Trx, run: Run, until: number): Promise<void> {
  await change(trx, run, (before) => ({ ...before, id: run.id, searchedTo: run.searchedTo, until }));
}

/** Ends the run. The next one begins anew. @throws LeaseLost */
export async function endRun(trx: Trx, run: Run): Promise<void> {
  await change(trx, run, (before) => ({ ...before, holder: null, until: 0 }));
}

/** How often the text may change meanwhile: by the renewals and the writes of this process, which run side by side. */
const MOST_TRIES = 100;

async function change(trx: Trx, run: Run, to: (before: Stored) => Stored): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const text = await readMeta(trx, KEY);
    const before = text === null ? null : stored.parse(JSON.parse(text));
    if (text === null || before?.fence !== run.fence) break;
    // Replacing the text locks the row on every engine: a takeover waits for this transaction.
    if (await replaceMeta(trx, KEY, text, JSON.stringify(to(before)))) return;
  }
  throw new LeaseLost("another process has taken over the run of reconcile");
}
