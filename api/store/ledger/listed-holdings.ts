import { type RawBuilder, sql } from "kysely";

import { CounterDeltas, counterKeys } from "../db/counters.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { rowSet, textSet, type Trx } from "../db/sql.ts";

/*
 * Against whom: a contract that lies about its holders. All holders of an adopted contract are stored, because its collection lists
 * them. But only wallets of apps that follow it, as the one that has adopted it, list its tokens. For all others the holding is
 * `unlisted`, and not in their totals.
 */

/**
 * Lists what wallets hold in contracts that their app follows: in these contracts, or these wallets. Also what another process has
 * stored as unlisted, because it did not see a wallet or a follow yet that was committed at the same time.
 */
export function listHoldings(trx: Trx, by: "contract" | "owner", values: Iterable<string>): Promise<void> {
  const among = sql`${sql.ref(by)} in ${textSet(trx, values)}`;
  return setListed(
    trx,
    sql`${among} and exists (
      select 1 from wallets where wallets.address = holdings.owner and ${sees(sql.ref("holdings.contract"))})`,
    true,
  );
}

export function unlistHoldings(trx: Trx, appId: string, contract: string): Promise<void> {
  const isOf = sql`exists (select 1 from wallets where wallets.address = holdings.owner and wallets.app_id = ${appId})`;
  return setListed(trx, sql`contract = ${contract} and ${isOf}`, false);
}

/** Whether the app of a wallet follows a contract. */
function sees(contract: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`exists (
    select 1 from contract_follows as follow
     where follow.address = ${contract} and follow.app_id = wallets.app_id and follow.ended_at is null)`;
}

/** @returns whether a new holding in one of these adopted contracts is left out of its owner's lists. */
export async function unlistedAmong(trx: Trx, holdings: readonly HoldingKey[]): Promise<(key: HoldingKey) => boolean> {
  if (holdings.length === 0) return () => false;
  const contracts = new Set(holdings.map(({ contract }) => contract));
  const rows = holdings.map(({ contract, owner }) => ({ contract, owner }));
  const { rows: seen } = await sql<{ contract: string; owner: string }>`
    select distinct input.contract, input.owner
      from ${rowSet(trx, { contract: "text", owner: "text" }, rows)} as input
      join wallets on wallets.address = input.owner where ${sees(sql.ref("input.contract"))}`.execute(trx);
  const listed = new Set(seen.map(({ contract, owner }) => `${contract} ${owner}`));
  return ({ contract, owner }) => contracts.has(contract) && !listed.has(`${contract} ${owner}`);
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
