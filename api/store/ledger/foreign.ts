import { sql } from "kysely";

import { addToCounter, CounterDeltas, counterKeys } from "../db/counters.ts";
import { lockLedger, type Trx } from "../db/sql.ts";
import { checkpointOf } from "./follow.ts";
import { setHoldings } from "./holding-set.ts";
import { noteForeignChange } from "./watched.ts";

/**
 * Ends the following of a contract by an app. The tokens of the app's wallets leave the listings; their history stays.
 * @returns false when the app does not follow the contract.
 */
export async function unfollowContract(trx: Trx, appId: string, address: string): Promise<boolean> {
  await lockLedger(trx);
  const checkpoint = await checkpointOf(trx);
  const ended = await trx
    .updateTable("contract_follows")
    .set({ ended_at: checkpoint })
    .where("app_id", "=", appId)
    .where("address", "=", address)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (ended.numUpdatedRows === 0n) return false;
  // A time without a block leaves nothing behind, however often an app starts and ends to follow.
  await trx
    .deleteFrom("contract_follows")
    .where("app_id", "=", appId)
    .where("address", "=", address)
    .whereRef("followed_from", ">=", "ended_at")
    .execute();
  await addToCounter(trx, counterKeys.contracts(appId), -1);
  await forgetHoldings(trx, address, appId);
  await sql`
    delete from uncertain_holdings where contract = ${address} and owner in
      (select owner from contract_reads where app_id = ${appId} and contract = ${address})`.execute(trx);
  await trx.deleteFrom("contract_reads").where("app_id", "=", appId).where("contract", "=", address).execute();
  // A contract in quarantine stays, so that its next quarantine lasts longer.
  await sql`
    delete from foreign_contracts where address = ${address} and state in ('checking', 'followed') and quarantines = 0
       and not exists (select 1 from contract_follows where address = ${address})`.execute(trx);
  await noteForeignChange(trx);
  return true;
}

/** Removes the holdings in a contract: of the app's wallets, or of all. */
async function forgetHoldings(
  trx: Trx,
  contract: string,
  appId: string | null,
  counters = new CounterDeltas(),
): Promise<void> {
  let query = trx.selectFrom("holdings").select(["token_id as tokenId", "owner"]).where("contract", "=", contract);
  if (appId !== null) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom("wallets")
          .select("wallets.seq")
          .whereRef("wallets.address", "=", "holdings.owner")
          .where("wallets.app_id", "=", appId),
      ),
    );
  }
  const holdings = (await query.execute()).map((row) => ({ contract, ...row, quantity: 0n, sinceBlock: 0 }));
  await setHoldings(trx, holdings, counters);
  await counters.flush(trx);
}

/** Stops following a contract as foreign, because it is a collection of the service. From now on its logs are enough. */
export async function forgetForeign(trx: Trx, address: string, counters: CounterDeltas): Promise<void> {
  const forgotten = await trx.deleteFrom("foreign_contracts").where("address", "=", address).executeTakeFirst();
  if (forgotten.numDeletedRows === 0n) return;
  const { rows: follows } = await sql<{ app_id: string; ended_at: number | null }>`
    delete from contract_follows where address = ${address} returning app_id, ended_at`.execute(trx);
  for (const row of follows) if (row.ended_at === null) counters.add(counterKeys.contracts(row.app_id), -1);
  await trx.deleteFrom("uncertain_holdings").where("contract", "=", address).execute();
  await trx.deleteFrom("contract_reads").where("contract", "=", address).execute();
  await forgetHoldings(trx, address, null, counters);
  await noteForeignChange(trx);
}
