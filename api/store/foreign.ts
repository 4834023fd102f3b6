import type { CollectionType } from "../domain/command.ts";
import { CounterDeltas } from "./counter-deltas.ts";
import type { Db, Trx } from "./engine.ts";
import { setHolding } from "./ownership.ts";
import type { ForeignContractRow } from "./schema.ts";

/** Follows a token contract that is not the service's own, from the block after `followedFrom` on. Twice is once. */
export async function followForeignContract(
  trx: Trx,
  contract: { address: string; type: CollectionType; name: string | null; followedFrom: number },
): Promise<void> {
  await trx
    .insertInto("foreign_contracts")
    .values({
      address: contract.address,
      type: contract.type,
      name: contract.name,
      followed_from: contract.followedFrom,
      created_at: Date.now(),
    })
    .onConflict((conflict) => conflict.column("address").doNothing())
    .execute();
}

/** Stores what the chain said that a wallet holds of a foreign contract at `block`. */
export async function recordForeignHolding(
  trx: Trx,
  holding: { contract: string; tokenId: string; owner: string; quantity: string; block: number },
): Promise<void> {
  const counters = new CounterDeltas();
  await setHolding(trx, holding, BigInt(holding.quantity), holding.block, counters);
  await counters.flush(trx);
}

export async function foreignContract(db: Db, address: string): Promise<ForeignContractRow | undefined> {
  return db.selectFrom("foreign_contracts").selectAll().where("address", "=", address).executeTakeFirst();
}

export async function foreignContracts(db: Db): Promise<ForeignContractRow[]> {
  return db.selectFrom("foreign_contracts").selectAll().execute();
}
