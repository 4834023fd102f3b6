import { revokeAllConsoleSessions } from "../../store/apps/console-sessions.ts";
import { openDatabase } from "../../store/db/database.ts";
import type { Trx } from "../../store/db/sql.ts";
import { forgetProcesses } from "../../store/move/restore-place.ts";
import { skipFeeds } from "../../store/reconcile/recovered-app.ts";

/** What a restored database must not take from its backup: positions of feeds that were handed out since, and processes. */
export async function afterRestore(trx: Trx): Promise<void> {
  await skipFeeds(trx);
  await forgetProcesses(trx);
}

/** Brings the tables up to date. Then it ends the console's sessions, because some were perhaps revoked after the backup. */
export async function bringUpToDate(url: string): Promise<void> {
  const database = await openDatabase(url);
  try {
    await database.write((trx) => revokeAllConsoleSessions(trx, Date.now()));
  } finally {
    await database.close();
  }
}
