import { sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../db/counters.ts";
import { checkpointOf, type MetaKey, readMeta, writeMeta } from "../db/meta.ts";
import { type Db, lockLedger, textSet, type Trx } from "../db/sql.ts";
import { setHoldings } from "./holding-set.ts";
import { unlistHoldings } from "./listed-holdings.ts";

/**
 * Makes an app stop following a contract. The tokens of the app's wallets leave the listings; their history stays.
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
  // A period without a block is deleted, so an app that keeps starting and stopping leaves no rows behind.
  await trx
    .deleteFrom("contract_follows")
    .where("app_id", "=", appId)
    .where("address", "=", address)
    .whereRef("followed_from", ">=", "ended_at")
    .execute();
  await addToCounter(trx, counterKeys.contracts(appId), -1);
  if ((await adoptedAmong(trx, [address])).size > 0) {
    await unlistHoldings(trx, appId, address);
    await noteForeignChange(trx);
    return true;
  }
  await forgetHoldings(trx, address, appId, new CounterDeltas());
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
export async function forgetHoldings(
  trx: Trx,
  contract: string,
  appId: string | null,
  counters: CounterDeltas,
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

/** Stops following contracts as foreign that are collections of the service. From now on their logs are enough. */
export async function forgetForeign(trx: Trx, addresses: readonly string[], counters: CounterDeltas): Promise<void> {
  const { rows: forgotten } = await sql<{ address: string }>`
    delete from foreign_contracts where address in ${textSet(trx, addresses)} returning address`.execute(trx);
  for (const { address } of forgotten) await forgetFollowed(trx, address, counters);
}

async function forgetFollowed(trx: Trx, address: string, counters: CounterDeltas): Promise<void> {
  const { rows: follows } = await sql<{ app_id: string; ended_at: number | null }>`
    delete from contract_follows where address = ${address} returning app_id, ended_at`.execute(trx);
  for (const row of follows) if (row.ended_at === null) counters.add(counterKeys.contracts(row.app_id), -1);
  await trx.deleteFrom("uncertain_holdings").where("contract", "=", address).execute();
  await trx.deleteFrom("contract_reads").where("contract", "=", address).execute();
  await forgetHoldings(trx, address, null, counters);
  await noteForeignChange(trx);
}

/** A contract that the service did not deploy, and the apps that follow it. */
interface ForeignContract {
  type: CollectionType;
  /** Whether its last read succeeded. The balances of any other are read in the background only. */
  healthy: boolean;
  /** The app that has adopted it; null: none. Its logs say then who holds its tokens, and all of them are stored. */
  adopter: string | null;
  /** The times in which each app follows it. */
  followers: ReadonlyMap<string, readonly FollowTime[]>;
}

/** An app follows a contract in the blocks after `from`, up to `to`. */
interface FollowTime {
  from: number;
  /** null: still. */
  to: number | null;
}

/** The contracts whose logs are followed: type by address. */
export interface IndexedContracts {
  readonly collections: ReadonlyMap<string, CollectionType>;
  readonly foreign: ReadonlyMap<string, ForeignContract>;
  /** How often the rows behind `foreign` were changed. */
  readonly foreignVersion: number;
}

/** Whether an app that follows the contract, or has adopted it, gets what happens in a block. */
export function followsAt(contract: ForeignContract, appId: string, block: number): boolean {
  const times = contract.followers.get(appId) ?? [];
  return times.some(({ from, to }) => from < block && (to === null || block <= to));
}

/**
 * The followed contracts in memory. Each `read` takes only the collections that were added since the last one, and the
 * foreign contracts only after a change. After a reorg that removed collections it takes all of them again.
 */
export class IndexedContractsCache {
  #collections = new Map<string, CollectionType>();
  /** The newest row that was read. The indexer alone adds collections, one range after the other. */
  #newest = 0;
  #removals = 0;
  #foreign: IndexedContracts["foreign"] = new Map();
  #foreignVersion: number | null = null;

  async read(db: Db): Promise<IndexedContracts> {
    // The versions are read before the rows: a change in between is noticed by the next read.
    const removals = await versionOf(db, "collections_removed");
    const foreignVersion = await versionOf(db, "foreign_version");
    if (removals !== this.#removals) {
      this.#collections = new Map();
      this.#newest = 0;
      this.#removals = removals;
    }
    const added = await db
      .selectFrom("collections")
      .select(["seq", "address", "type"])
      .where("seq", ">", this.#newest)
      .where("adopted", "=", 0)
      .orderBy("seq")
      .execute();
    for (const row of added) this.#collections.set(row.address, row.type);
    this.#newest = added.at(-1)?.seq ?? this.#newest;
    if (foreignVersion !== this.#foreignVersion) {
      this.#foreign = await foreignOf(db, "now");
      this.#foreignVersion = foreignVersion;
    }
    return { collections: this.#collections, foreign: this.#foreign, foreignVersion };
  }
}

/** Reads all followed contracts. */
export function readIndexedContracts(db: Db): Promise<IndexedContracts> {
  return new IndexedContractsCache().read(db);
}

/**
 * Reads all contracts that are or were followed, also those in quarantine, with all the times in which apps followed them. Those that
 * are adopted are left out.
 */
export async function readEverIndexedContracts(db: Db): Promise<IndexedContracts> {
  return { ...(await new IndexedContractsCache().read(db)), foreign: await foreignOf(db, "ever") };
}

/** What has changed since some logs were read. */
export interface ForeignChanges {
  /** The logs may lack what these need. */
  added: { appId: string; contract: string }[];
  /** Whether all logs of an adopted contract are wanted now and were not, or the other way round. */
  ofAdopted: boolean;
}

/** @returns null when nothing about the foreign contracts has changed since `indexed` was read. */
export async function foreignChangesSince(db: Db, indexed: IndexedContracts): Promise<ForeignChanges | null> {
  if ((await versionOf(db, "foreign_version")) === indexed.foreignVersion) return null;
  const added: ForeignChanges["added"] = [];
  const current = await foreignOf(db, "now");
  for (const [contract, { followers }] of current) {
    if (indexed.collections.has(contract)) continue;
    const known = indexed.foreign.get(contract);
    for (const appId of followers.keys()) if (known?.followers.has(appId) !== true) added.push({ appId, contract });
  }
  const adoptedIn = (foreign: IndexedContracts["foreign"]) =>
    [...foreign].flatMap(([contract, { adopter }]) => (adopter === null ? [] : [contract])).sort();
  return { added, ofAdopted: adoptedIn(current).join() !== adoptedIn(indexed.foreign).join() };
}

async function foreignOf(db: Db, when: "now" | "ever"): Promise<ReadonlyMap<string, ForeignContract>> {
  let query = db
    .selectFrom("contract_follows as follow")
    .innerJoin("foreign_contracts as contract", "contract.address", "follow.address")
    .select(["contract.address", "contract.type", "contract.failures", "follow.app_id", "follow.followed_from"])
    .select("follow.ended_at")
    .where("contract.type", "is not", null);
  if (when === "now") query = query.where("contract.state", "=", "followed").where("follow.ended_at", "is", null);
  const adopted = await adoptedContracts(db);
  const contracts = new Map<string, Omit<ForeignContract, "followers"> & { followers: Map<string, FollowTime[]> }>();
  const empty = { healthy: true, adopter: null };
  for (const { address, type, app_id: adopter, state, block_number: from } of adopted.values())
    if (when === "now" && state === "followed")
      contracts.set(address, { ...empty, type, adopter, followers: new Map([[adopter, [{ from, to: null }]]]) });
  for (const row of await query.execute()) {
    if (row.type === null || (when === "ever" && adopted.has(row.address))) continue;
    const found = contracts.get(row.address) ?? {
      ...empty,
      type: row.type,
      healthy: row.failures === 0,
      followers: new Map<string, FollowTime[]>(),
    };
    const times = found.followers.get(row.app_id) ?? [];
    times.push({ from: row.followed_from, to: row.ended_at });
    found.followers.set(row.app_id, times);
    contracts.set(row.address, found);
  }
  return contracts;
}

async function adoptedContracts(db: Db) {
  const rows = await db
    .selectFrom("collections as collection")
    .innerJoin("foreign_contracts as contract", "contract.address", "collection.address")
    .select(["collection.address", "collection.type", "collection.app_id", "collection.block_number", "contract.state"])
    .where("collection.adopted", "=", sql.lit(1))
    .execute();
  return new Map(rows.map((row) => [row.address, row]));
}

/** Those of the contracts that an app has adopted, with their types. */
export async function adoptedAmong(db: Db, contracts: Iterable<string>): Promise<Map<string, CollectionType>> {
  const { rows } = await sql<{ address: string; type: CollectionType }>`
    select address, type from collections where adopted = 1 and address in ${textSet(db, contracts)}`.execute(db);
  return new Map(rows.map(({ address, type }) => [address, type]));
}

/** Call it in every transaction that deletes collections. */
export function noteRemovedCollections(trx: Trx): Promise<void> {
  return raise(trx, "collections_removed");
}

/** Call it in every transaction that changes which foreign contracts are followed, by whom, or in which state they are. */
export function noteForeignChange(trx: Trx): Promise<void> {
  return raise(trx, "foreign_version");
}

async function raise(trx: Trx, key: MetaKey): Promise<void> {
  await writeMeta(trx, key, ((await versionOf(trx, key)) + 1).toString());
}

async function versionOf(db: Db, key: MetaKey): Promise<number> {
  return Number((await readMeta(db, key)) ?? 0);
}
