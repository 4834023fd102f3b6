import type { CollectionType } from "../../domain/command.ts";
import { CounterDeltas } from "../db/counters.ts";
import type { Db, Trx } from "../db/sql.ts";
import { setHoldings } from "../ledger/holding-set.ts";

export interface ForeignHolding {
  seq: number;
  contract: string;
  type: CollectionType;
  tokenId: string;
  owner: string;
  quantity: string;
}

/** Balances of wallets in foreign contracts, in row order. */
export async function foreignHoldings(db: Db, after: number, limit: number): Promise<ForeignHolding[]> {
  return db
    .selectFrom("holdings")
    .innerJoin("foreign_contracts", "foreign_contracts.address", "holdings.contract")
    .select([
      "holdings.seq as seq",
      "holdings.contract as contract",
      "foreign_contracts.type as type",
      "holdings.token_id as tokenId",
      "holdings.owner as owner",
      "holdings.quantity as quantity",
    ])
    .where("foreign_contracts.type", "is not", null)
    .$narrowType<{ type: CollectionType }>()
    .where("holdings.seq", ">", after)
    .orderBy("holdings.seq")
    .limit(limit)
    .execute();
}

/** Does not touch the totals: `compareCounters` repairs them afterwards. */
export async function setForeignHolding(
  trx: Trx,
  holding: ForeignHolding,
  quantity: bigint,
  block: number,
): Promise<void> {
  const { contract, tokenId, owner } = holding;
  await setHoldings(trx, [{ contract, tokenId, owner, quantity, sinceBlock: block }], new CounterDeltas());
}
