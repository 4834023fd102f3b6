import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { addToCounter, CounterDeltas, counterKeys, readCounter } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import type { Db, Trx } from "../db/engine.ts";
import { lockLedger } from "../db/locks.ts";
import { readMeta } from "../db/meta.ts";
import type { ForeignContractRow } from "../db/schema-contracts.ts";
import { setHoldings } from "./holding-set.ts";
import { noteForeignChange } from "./watched.ts";

/** What a contract says about itself. */
export interface KnownContract {
  type: CollectionType;
  name: string | null;
}

/** The contract at an address, and whether the app follows it. */
export interface FollowedContract extends ForeignContractRow {
  followed: boolean;
}

/** @returns undefined when no app has ever followed the contract. */
export async function findForeignContract(
  db: Db,
  appId: string,
  address: string,
): Promise<FollowedContract | undefined> {
  const row = await db
    .selectFrom("foreign_contracts")
    .leftJoin("contract_follows", (join) =>
      join
        .onRef("contract_follows.address", "=", "foreign_contracts.address")
        .on("contract_follows.app_id", "=", appId)
        .on("contract_follows.ended_at", "is", null),
    )
    .selectAll("foreign_contracts")
    .select("contract_follows.seq as follow")
    .where("foreign_contracts.address", "=", address)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { follow, ...contract } = row;
  return { ...contract, followed: follow !== null };
}

/** A caller can name a collection of the service before its block is stored. Such a contract is not followed as foreign. */
async function isCollection(trx: Trx, address: string): Promise<boolean> {
  const row = await trx.selectFrom("collections").select("seq").where("address", "=", address).executeTakeFirst();
  return row !== undefined;
}

/**
 * Makes the app follow a contract from the next block on. Idempotent.
 * @param follow `known` is null when the contract must first be asked for its type. `quota`: the most contracts of one app.
 * @returns `quota` when the app follows as many contracts as it may.
 */
export async function followContract(
  trx: Trx,
  follow: { appId: string; address: string; known: KnownContract | null; quota: number; now: number },
): Promise<"followed" | "quota"> {
  const { appId, address, known, now } = follow;
  await lockLedger(trx);
  if (await isCollection(trx, address)) return "followed";
  const earlier = await findForeignContract(trx, appId, address);
  if (earlier?.followed !== true) {
    if ((await readCounter(trx, counterKeys.contracts(appId))) >= follow.quota) return "quota";
    await trx
      .insertInto("contract_follows")
      .values({ app_id: appId, address, followed_from: await checkpointOf(trx), ended_at: null, created_at: now })
      .execute();
    await addToCounter(trx, counterKeys.contracts(appId), 1);
  }
  if (earlier === undefined) await insertContract(trx, address, known, now);
  else if (known !== null && (earlier.state === "checking" || earlier.state === "unsupported")) {
    await trx
      .updateTable("foreign_contracts")
      .set({ type: known.type, name: known.name, state: "followed", due_at: null })
      .where("address", "=", address)
      .execute();
    await followFromNow(trx, address);
  } else if (earlier.followed) return "followed";
  await noteForeignChange(trx);
  return "followed";
}

/** Blocks that were stored before the contract's type was known were read without its logs. */
export async function followFromNow(trx: Trx, contract: string): Promise<void> {
  await trx
    .updateTable("contract_follows")
    .set({ followed_from: await checkpointOf(trx) })
    .where("address", "=", contract)
    .where("ended_at", "is", null)
    .execute();
}

async function insertContract(trx: Trx, address: string, known: KnownContract | null, now: number): Promise<void> {
  await trx
    .insertInto("foreign_contracts")
    .values({
      address,
      type: known?.type ?? null,
      name: known?.name ?? null,
      state: known === null ? "checking" : "followed",
      reason: null,
      due_at: known === null ? AT_ONCE : null,
      as_of: null,
      failures: 0,
      quarantines: 0,
      released_at: null,
      window_from: 0,
      window_logs: 0,
      created_at: now,
    })
    .execute();
}

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

/** Stores a wallet's balance of a foreign token, as the chain reported it at `block`. */
export async function recordForeignHolding(
  trx: Trx,
  holding: { contract: string; tokenId: string; owner: string; quantity: string; block: number },
): Promise<void> {
  await lockLedger(trx);
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
  const { rows: follows } = await sql<{ app_id: string; ended_at: number | null }>`
    delete from contract_follows where address = ${address} returning app_id, ended_at`.execute(trx);
  for (const row of follows) if (row.ended_at === null) counters.add(counterKeys.contracts(row.app_id), -1);
  await trx.deleteFrom("uncertain_holdings").where("contract", "=", address).execute();
  await trx.deleteFrom("contract_reads").where("contract", "=", address).execute();
  await forgetHoldings(trx, address, null, counters);
  await noteForeignChange(trx);
}

/** The last block whose logs are stored. */
export async function checkpointOf(db: Db): Promise<number> {
  return Number((await readMeta(db, "checkpoint")) ?? 0);
}
