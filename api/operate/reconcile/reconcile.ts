import { Indexer } from "../../indexer/indexer.ts";
import { NO_METRICS } from "../../shared/metrics.ts";
import { createSignals } from "../../shared/signal.ts";
import { forgetUnknown } from "../../store/ledger/rollback.ts";
import { giveCollections, recoveredCollections } from "../../store/reconcile/recovered-app.ts";
import { compareWithChain, type Comparison } from "./compare.ts";
import { holdRun, type ReconcileDeps } from "./run.ts";
import { findLost, isNothing, recover, type RecoverOptions, type Recovery } from "./recover.ts";

interface ReconcileOptions extends RecoverOptions {
  /** Id of the app that gets the collections whose app is unknown. Null: they stay without an app. */
  adoptInto: string | null;
  /** Reads every block again, even if an earlier run was interrupted. */
  fromStart: boolean;
}

export interface Reconciliation {
  dry_run: boolean;
  /** The first block that was read. A later one than the deployment: an interrupted run went on. */
  from_block: number;
  /** Null: the database is not an old backup. */
  recovery: Recovery | null;
  comparison: Comparison;
  /** Collections created after the backup that were assigned to an app. */
  adopted: string[];
  /** Collections created after the backup whose app is unknown. */
  ownerless: string[];
}

/**
 * Corrects the database from the chain. First it recovers transactions of the service's lanes that the database does not
 * know; then it reads the whole chain again and compares everything. A second run finds no difference. A run that was
 * interrupted, in whatever way, goes on where it was.
 */
export async function reconcile(deps: ReconcileDeps, options: ReconcileOptions): Promise<Reconciliation> {
  return holdRun(deps, options.fromStart, async (run) => {
    const lost = await findLost(deps, run);
    const recovery = isNothing(lost) ? null : await recover(deps, run, lost, options);
    if (!options.dryRun) {
      // Now the database knows every transaction of the lanes.
      await run.write(forgetUnknown);
      await catchUp(deps);
    }
    const { adoptInto } = options;
    // Never by itself: another database may have made them with the same seed, for another app.
    const adopted =
      options.dryRun || adoptInto === null ? [] : await run.write((trx) => giveCollections(trx, adoptInto));
    const { from, ...comparison } = await compareWithChain(deps, run, !options.dryRun);
    const ownerless = await recoveredCollections(deps.database.read);
    return { dry_run: options.dryRun, from_block: from, recovery, comparison, adopted, ownerless };
  });
}

/** Reads the blocks after the checkpoint, as the indexer does. A running indexer may do the same at the same time. */
async function catchUp(deps: ReconcileDeps): Promise<void> {
  const indexer = new Indexer({
    ...deps,
    signals: createSignals(),
    metrics: NO_METRICS,
    pollInterval: 0,
    leaseTimes: null,
    receipts: null,
  });
  while (await indexer.step());
}
