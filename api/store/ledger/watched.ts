import type { Db } from "../db/engine.ts";
import type { CollectionType } from "../../domain/command.ts";

/** The contracts whose logs are followed: type by address. */
export interface WatchedContracts {
  collections: Map<string, CollectionType>;
  foreign: Map<string, { type: CollectionType; followedFrom: number }>;
}

export async function watchedContracts(db: Db): Promise<WatchedContracts> {
  const collections = await db.selectFrom("collections").select(["address", "type"]).execute();
  const foreign = await db.selectFrom("foreign_contracts").select(["address", "type", "followed_from"]).execute();
  return {
    collections: new Map(collections.map((row) => [row.address, row.type])),
    foreign: new Map(foreign.map((row) => [row.address, { type: row.type, followedFrom: row.followed_from }])),
  };
}

/** Whether a contract that must be followed since before `to` was added after `watched` was read. */
export async function followsMore(db: Db, watched: WatchedContracts, to: number): Promise<boolean> {
  const followed = await db.selectFrom("foreign_contracts").select("address").where("followed_from", "<", to).execute();
  return followed.some(({ address }) => !watched.foreign.has(address) && !watched.collections.has(address));
}
