import type { Database } from "../store/db/database.ts";
import { unfollowContract as unfollow } from "../store/ledger/foreign.ts";

/** Ends the following of a contract by an app. @returns false when the app does not follow it. */
export function unfollowContract(deps: { database: Database }, appId: string, address: string): Promise<boolean> {
  return deps.database.write((trx) => unfollow(trx, appId, address));
}
