import { Indexer } from "../indexer/indexer.ts";
import { createSignals } from "../shared/signal.ts";
import { giveCollections, otherApps, recoveredCollections } from "../store/reconcile/recovered-app.ts";
import { compareWithChain, type Comparison } from "./compare.ts";
import type { ReconcileDeps } from "./deps.ts";
import { findLost } from "./find-lost.ts";
import { isNothing, recover, type RecoverOptions, type Recovery } from "./recover.ts";

export interface ReconcileOptions extends RecoverOptions {
  /** Id of the app that gets the collections which no known app asked for; null: the only app, if there is only one. */
  adoptInto: string | null;
}

export interface Reconciliation {
  dry_run: boolean;
  /** null: the database is not older than the chain. */
  recovery: Recovery | null;
  comparison: Comparison;
  /** Collections of the lost time that were given to an app. */
  adopted: string[];
  /** Collections of the lost time that belong to no known app yet. */
  ownerless: string[];
}

/**
 * Makes the database say what the chain says: first whatever it does not know of its own lanes' work, then everything,
 * compared with the chain read anew. A second run finds nothing.
 */
export async function reconcile(deps: ReconcileDeps, options: ReconcileOptions): Promise<Reconciliation> {
  const lost = await findLost(deps);
  const recovery = isNothing(lost) ? null : await recover(deps, lost, options);
  if (!options.dryRun) await catchUp(deps);
  const adopted = options.dryRun ? [] : await adoptCollections(deps, options.adoptInto);
  return {
    dry_run: options.dryRun,
    recovery,
    comparison: await compareWithChain(deps, !options.dryRun),
    adopted,
    ownerless: await recoveredCollections(deps.database.read),
  };
}

/** Reads what the chain has beyond the checkpoint, as a running indexer would: both may do so side by side. */
async function catchUp(deps: ReconcileDeps): Promise<void> {
  const indexer = new Indexer({ ...deps, signals: createSignals(), pollInterval: 0 });
  while (await indexer.step());
}

async function adoptCollections(deps: ReconcileDeps, into: string | null): Promise<string[]> {
  if ((await recoveredCollections(deps.database.read)).length === 0) return [];
  const apps = await otherApps(deps.database.read);
  const app = into ?? (apps.length === 1 ? apps[0]?.id : undefined);
  return app === undefined ? [] : deps.database.write((trx) => giveCollections(trx, app));
}
