import { type RawBuilder, sql } from "kysely";

import { CounterDeltas, counterKeys } from "../db/counters.ts";
import { textSet, type Trx } from "../db/sql.ts";

/*
 * Against whom: a contract that lies about its holders. All holders of an adopted contract are stored, because its collection lists
 * them. But only wallets of the app that has adopted it, and of apps that follow it, list its tokens. For all others the holding is
 * `unlisted`, and not in their totals.
 */

/** Lists what the app's wallets hold in an adopted contract. */
export function listHoldings(trx: Trx, appId: string, contracts: readonly string[]): Promise<void> {
  return setListed(trx, sql`contract in ${textSet(trx, contracts)} and ${isOf(appId)}`, true);
}

export function unlistHoldings(trx: Trx, appId: string, contract: string): Promise<void> {
  return setListed(trx, sql`contract = ${contract} and ${isOf(appId)}`, false);
}

/** Lists what new wallets hold already in the contracts that their app has adopted or follows. */
export function listHoldingsOf(trx: Trx, wallets: Iterable<string>): Promise<void> {
  return setListed(
    trx,
    sql`owner in ${textSet(trx, wallets)} and exists (
      select 1 from wallets
       where wallets.address = holdings.owner and (
         exists (select 1 from collections
                  where collections.address = holdings.contract and collections.adopted = 1
                    and collections.app_id = wallets.app_id)
         or exists (select 1 from contract_follows as follow
                     where follow.address = holdings.contract and follow.app_id = wallets.app_id
                       and follow.ended_at is null)))`,
    true,
  );
}

function isOf(appId: string): RawBuilder<unknown> {
  return sql`exists (select 1 from wallets where wallets.address = holdings.owner and wallets.app_id = ${appId})`;
}

async function setListed(trx: Trx, which: RawBuilder<unknown>, listed: boolean): Promise<void> {
  const [from, to] = listed ? [1, 0] : [0, 1];
  const { rows } = await sql<{ owner: string; contract: string }>`
    update holdings set unlisted = ${to} where unlisted = ${sql.lit(from)} and ${which} returning owner, contract`.execute(
    trx,
  );
  if (rows.length === 0) return;
  const counters = new CounterDeltas();
  for (const { owner, contract } of rows) {
    counters.add(counterKeys.holdings(owner), listed ? 1 : -1);
    counters.add(counterKeys.holdingsOfContract(owner, contract), listed ? 1 : -1);
  }
  await counters.flush(trx);
}
