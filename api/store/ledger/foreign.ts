import type { CollectionType } from "../../domain/command.ts";
import { CounterDeltas } from "../db/counters.ts";
import type { Db, Trx } from "../db/engine.ts";
import { setHoldings } from "./holding-set.ts";
import type { ForeignContractRow } from "../db/schema.ts";
import { noteForeignChange } from "./watched.ts";

/** A caller can name a collection of the service before its block is stored. Such a contract is not followed as foreign. */
async function isCollection(trx: Trx, address: string): Promise<boolean> {
  const row = await trx.selectFrom("collections").select("seq").where("address", "=", address).executeTakeFirst();
  return row !== undefined;
}

/** Starts to follow a foreign token contract, from the block after `followedFrom`. Idempotent. */
export async function followForeignContract(
  trx: Trx,
  contract: { address: string; type: CollectionType; name: string | null; followedFrom: number },
): Promise<void> {
  if (await isCollection(trx, contract.address)) return;
  const { numInsertedOrUpdatedRows: inserted } = await trx
    .insertInto("foreign_contracts")
    .values({
      address: contract.address,
      type: contract.type,
      name: contract.name,
      followed_from: contract.followedFrom,
      created_at: Date.now(),
    })
    .onConflict((conflict) => conflict.column("address").doNothing())
    .executeTakeFirst();
  if (inserted !== 0n) await noteForeignChange(trx);
}

/** Stores a wallet's balance of a foreign token, as the chain reported it at `block`. */
export async function recordForeignHolding(
  trx: Trx,
  holding: { contract: string; tokenId: string; owner: string; quantity: string; block: number },
): Promise<void> {
  if (await isCollection(trx, holding.contract)) return;
  const counters = new CounterDeltas();
  const { quantity, block: sinceBlock, ...key } = holding;
  await setHoldings(trx, [{ ...key, quantity: BigInt(quantity), sinceBlock }], counters);
  await counters.flush(trx);
}

/** Stops following a contract as foreign, because it is a collection of the service. From now on its logs are enough. */
export async function forgetForeign(trx: Trx, address: string, counters: CounterDeltas): Promise<void> {
  const forgotten = await trx.deleteFrom("foreign_contracts").where("address", "=", address).executeTakeFirst();
  if (forgotten.numDeletedRows === 0n) return;
  await noteForeignChange(trx);
  await trx.deleteFrom("uncertain_holdings").where("contract", "=", address).execute();
  const holdings = await trx
    .selectFrom("holdings")
    .select(["token_id as tokenId", "owner"])
    .where("contract", "=", address)
    .execute();
  await setHoldings(
    trx,
    holdings.map((holding) => ({ contract: address, ...holding, quantity: 0n, sinceBlock: 0 })),
    counters,
  );
}

export async function foreignContract(db: Db, address: string): Promise<ForeignContractRow | undefined> {
  return db.selectFrom("foreign_contracts").selectAll().where("address", "=", address).executeTakeFirst();
}

export async function foreignContracts(db: Db): Promise<ForeignContractRow[]> {
  return db.selectFrom("foreign_contracts").selectAll().execute();
}
