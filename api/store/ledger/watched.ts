import type { CollectionType } from "../../domain/command.ts";
import type { Db, Trx } from "../db/engine.ts";
import { type MetaKey, readMeta, writeMeta } from "../db/meta.ts";

/** The contracts whose logs are followed: type by address. */
export interface WatchedContracts {
  readonly collections: ReadonlyMap<string, CollectionType>;
  readonly foreign: ReadonlyMap<string, { type: CollectionType; followedFrom: number }>;
  /** How often a row was added to or removed from `foreign_contracts`. */
  readonly foreignVersion: number;
}

/**
 * The followed contracts in memory. Each `read` takes only the collections that were added since the last one, and the
 * foreign contracts only after a change. After a reorg that removed collections it takes all of them again.
 */
export class WatchedCache {
  #collections = new Map<string, CollectionType>();
  /** The newest row that was read. The indexer alone adds collections, one range after the other. */
  #newest = 0;
  #removals = 0;
  #foreign: WatchedContracts["foreign"] = new Map();
  #foreignVersion: number | null = null;

  async read(db: Db): Promise<WatchedContracts> {
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
      .orderBy("seq")
      .execute();
    for (const row of added) this.#collections.set(row.address, row.type);
    this.#newest = added.at(-1)?.seq ?? this.#newest;
    if (foreignVersion !== this.#foreignVersion) {
      this.#foreign = await followed(db);
      this.#foreignVersion = foreignVersion;
    }
    return { collections: this.#collections, foreign: this.#foreign, foreignVersion };
  }
}

/** Reads all followed contracts. */
export function watchedContracts(db: Db): Promise<WatchedContracts> {
  return new WatchedCache().read(db);
}

/** Whether a foreign contract that must be followed since before `to` was added after `watched` was read. */
export async function followsMore(db: Db, watched: WatchedContracts, to: number): Promise<boolean> {
  if ((await versionOf(db, "foreign_version")) === watched.foreignVersion) return false;
  for (const [address, { followedFrom }] of await followed(db)) {
    if (followedFrom < to && !watched.foreign.has(address) && !watched.collections.has(address)) return true;
  }
  return false;
}

async function followed(db: Db): Promise<WatchedContracts["foreign"]> {
  const rows = await db.selectFrom("foreign_contracts").select(["address", "type", "followed_from"]).execute();
  return new Map(rows.map((row) => [row.address, { type: row.type, followedFrom: row.followed_from }]));
}

/** Call it in every transaction that deletes collections. */
export function noteRemovedCollections(trx: Trx): Promise<void> {
  return raise(trx, "collections_removed");
}

/** Call it in every transaction that adds, changes or deletes foreign contracts. */
export function noteForeignChange(trx: Trx): Promise<void> {
  return raise(trx, "foreign_version");
}

async function raise(trx: Trx, key: MetaKey): Promise<void> {
  await writeMeta(trx, key, ((await versionOf(trx, key)) + 1).toString());
}

async function versionOf(db: Db, key: MetaKey): Promise<number> {
  return Number((await readMeta(db, key)) ?? 0);
}
