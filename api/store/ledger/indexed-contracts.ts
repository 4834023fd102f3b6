import { type RawBuilder, sql } from "kysely";

import type { CollectionType } from "../../domain/command.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { addToCounter, CounterDeltas, counterKeys } from "../db/counters.ts";
import { checkpointOf, type MetaKey, readMeta, writeMeta } from "../db/meta.ts";
import { type Db, lockLedger, textSet, type Trx } from "../db/sql.ts";
import { setHoldings } from "./holding-set.ts";
import { unlistHoldings } from "./listed-holdings.ts";

/**
 * Makes an app stop following a contract. The tokens of the app's wallets leave the listings; their history stays.
 * @returns false when the app does not follow the contract, or has adopted it.
 */
export async function unfollowContract(trx: Trx, appId: string, address: string): Promise<boolean> {
  await lockLedger(trx);
  const adopted = (await adoptedAmong(trx, [address])).get(address);
  if (adopted?.adopter === appId) return false;
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
  if (adopted !== undefined) {
    await unlistHoldings(trx, appId, address);
    await noteForeignChange(trx);
    return true;
  }
  await forgetContents(trx, address, appId, new CounterDeltas());
  // A contract in quarantine stays, so that its next quarantine lasts longer.
  await sql`
    delete from foreign_contracts where address = ${address} and state in ('checking', 'followed') and quarantines = 0
       and not exists (select 1 from contract_follows where address = ${address})`.execute(trx);
  await noteForeignChange(trx);
  return true;
}

/** Removes what wallets hold in a contract, and what is to be read of it: wallets of the app, or all. */
export async function forgetContents(
  trx: Trx,
  contract: string,
  appId: string | null,
  counters: CounterDeltas,
): Promise<void> {
  const which = (table: "holdings" | "uncertain_holdings" | "contract_reads") =>
    appId === null
      ? sql`${sql.table(table)} where contract = ${contract}`
      : sql`${sql.table(table)} where contract = ${contract} and exists (
          select 1 from wallets where wallets.address = ${sql.ref(`${table}.owner`)} and wallets.app_id = ${appId})`;
  const { rows } = await sql<HoldingKey>`
    select contract, token_id as "tokenId", owner from ${which("holdings")}`.execute(trx);
  await setHoldings(
    trx,
    rows.map((row) => ({ ...row, quantity: 0n, sinceBlock: 0 })),
    counters,
  );
  for (const table of ["uncertain_holdings", "contract_reads"] as const)
    await sql`delete from ${which(table)}`.execute(trx);
  await counters.flush(trx);
}

/** Stops following contracts as foreign that are collections of the service. From now on their logs are enough. */
export async function forgetForeign(trx: Trx, addresses: readonly string[], counters: CounterDeltas): Promise<void> {
  const { rows: forgotten } = await sql<{ address: string }>`
    delete from foreign_contracts where address in ${textSet(trx, addresses)} returning address`.execute(trx);
  for (const { address } of forgotten) {
    const { rows: follows } = await sql<{ app_id: string; ended_at: number | null }>`
      delete from contract_follows where address = ${address} returning app_id, ended_at`.execute(trx);
    for (const row of follows) if (row.ended_at === null) counters.add(counterKeys.contracts(row.app_id), -1);
    await forgetContents(trx, address, null, counters);
  }
  if (forgotten.length > 0) await noteForeignChange(trx);
}

/** A contract that the service did not deploy, and the apps that follow it, with the one that has adopted it. */
export interface ForeignContract {
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

/** Whether an app that follows the contract gets what happens in a block. */
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
      this.#foreign = await foreignOf(db, FOLLOWED_NOW);
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
  return {
    ...(await new IndexedContractsCache().read(db)),
    foreign: await foreignOf(db, sql`collection.address is null`),
  };
}

/** Reads a contract with all the times in which apps followed it, whatever its state is. */
export async function readForeignContract(db: Db, address: string): Promise<ForeignContract | undefined> {
  return (await foreignOf(db, sql`contract.address = ${address}`)).get(address);
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
  const current = await foreignOf(db, FOLLOWED_NOW);
  for (const [contract, { followers }] of current) {
    if (indexed.collections.has(contract)) continue;
    const known = indexed.foreign.get(contract);
    for (const appId of followers.keys()) if (known?.followers.has(appId) !== true) added.push({ appId, contract });
  }
  const adoptedIn = (foreign: IndexedContracts["foreign"]) =>
    [...foreign].flatMap(([contract, { adopter }]) => (adopter === null ? [] : [contract])).sort();
  return { added, ofAdopted: adoptedIn(current).join() !== adoptedIn(indexed.foreign).join() };
}

const FOLLOWED_NOW = sql`contract.state = 'followed' and follow.ended_at is null`;

async function foreignOf(db: Db, which: RawBuilder<unknown>): Promise<ReadonlyMap<string, ForeignContract>> {
  const { rows } = await sql<
    FollowTime & Pick<ForeignContract, "type" | "adopter"> & Record<"address" | "app", string> & { failures: number }
  >`
    select contract.address, contract.type, contract.failures, follow.app_id as app, follow.followed_from as "from",
           follow.ended_at as "to", collection.app_id as adopter
      from contract_follows as follow join foreign_contracts as contract on contract.address = follow.address
      left join collections as collection on collection.address = follow.address and collection.adopted = 1
     where contract.type is not null and ${which}`.execute(db);
  const contracts = new Map<string, ForeignContract & { followers: Map<string, FollowTime[]> }>();
  for (const { address, type, adopter, failures, app, from, to } of rows) {
    const healthy = adopter !== null || failures === 0;
    const found = contracts.get(address) ?? { type, adopter, healthy, followers: new Map<string, FollowTime[]>() };
    found.followers.set(app, [...(found.followers.get(app) ?? []), { from, to }]);
    contracts.set(address, found);
  }
  return contracts;
}

/** Those of the contracts that an app has adopted, with their types, and the app. */
export async function adoptedAmong(
  db: Db,
  contracts: Iterable<string>,
): Promise<Map<string, { type: CollectionType; adopter: string }>> {
  const { rows } = await sql<{ address: string; type: CollectionType; adopter: string }>`
    select address, type, app_id as adopter from collections
     where adopted = 1 and address in ${textSet(db, contracts)}`.execute(db);
  return new Map(rows.map(({ address, ...adopted }) => [address, adopted]));
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
