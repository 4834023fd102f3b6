import type { Trx } from "../../store/db/engine.ts";
import { forgetProcesses } from "../../store/move/restore-place.ts";
import { skipFeeds } from "../../store/reconcile/recovered-app.ts";

/** What a restored database must not take from its backup: positions of feeds that were handed out since, and processes. */
export async function afterRestore(trx: Trx): Promise<void> {
  await skipFeeds(trx);
  await forgetProcesses(trx);
}
