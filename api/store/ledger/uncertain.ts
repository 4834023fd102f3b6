import { sql } from "kysely";

import type { Db, Trx } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";

/** A balance in a foreign contract that must be read from the chain again. */
export interface UncertainHolding {
  contract: string;
  tokenId: string;
  owner: string;
}

/** The next balances to read. The indexer takes some with each range. */
export async function uncertainHoldings(db: Db, limit: number): Promise<UncertainHolding[]> {
  return db
    .selectFrom("uncertain_holdings")
    .select(["contract", "token_id as tokenId", "owner"])
    .limit(limit)
    .execute();
}

const COLUMNS = { contract: "text", token_id: "text", owner: "text" } as const;

function rowOf({ contract, tokenId, owner }: UncertainHolding) {
  return { contract, token_id: tokenId, owner };
}

export async function markUncertain(trx: Trx, holdings: readonly UncertainHolding[]): Promise<void> {
  if (holdings.length === 0) return;
  await sql`
    insert into uncertain_holdings (contract, token_id, owner)
    select contract, token_id, owner from ${rowSet(trx, COLUMNS, holdings.map(rowOf))} as input where true
    on conflict (contract, token_id, owner) do nothing`.execute(trx);
}

export async function markCertain(trx: Trx, holdings: readonly UncertainHolding[]): Promise<void> {
  if (holdings.length === 0) return;
  await sql`
    delete from uncertain_holdings where (contract, token_id, owner) in
      (select contract, token_id, owner from ${rowSet(trx, COLUMNS, holdings.map(rowOf))} as input)`.execute(trx);
}
