import type { Db, Trx } from "../db/engine.ts";

/** A holding of a foreign contract that must be read from the chain again. */
export interface UncertainHolding {
  contract: string;
  tokenId: string;
  owner: string;
}

/** Some of them; the next range takes the next. */
export async function uncertainHoldings(db: Db, limit: number): Promise<UncertainHolding[]> {
  return db
    .selectFrom("uncertain_holdings")
    .select(["contract", "token_id as tokenId", "owner"])
    .limit(limit)
    .execute();
}

export async function markUncertain(trx: Trx, holding: UncertainHolding): Promise<void> {
  await trx
    .insertInto("uncertain_holdings")
    .values({ contract: holding.contract, token_id: holding.tokenId, owner: holding.owner })
    .onConflict((conflict) => conflict.columns(["contract", "token_id", "owner"]).doNothing())
    .execute();
}

export async function markCertain(trx: Trx, holding: UncertainHolding): Promise<void> {
  await trx
    .deleteFrom("uncertain_holdings")
    .where("contract", "=", holding.contract)
    .where("token_id", "=", holding.tokenId)
    .where("owner", "=", holding.owner)
    .execute();
}
