import { type Db, lockCollections, type Trx } from "../db/sql.ts";
import type { CollectionRow } from "../db/schema.ts";
import type { Difference } from "./difference.ts";

const COMPARED = ["minted", "max_supply", "base_uri", "service_may_mint", "service_is_steward", "owner"] as const;

/**
 * Compares a collection's minted count and what its owner can change, and repairs it. Locks the collection, so that no mint is
 * accepted while its tokens are compared. @param owner as the contract reports it.
 */
export async function compareCollection(
  trx: Trx,
  chain: Db,
  address: string,
  owner: string | null,
  repair: boolean,
): Promise<Difference[]> {
  await lockCollections(trx, [address]);
  const [stored, replayed] = [await collectionAt(trx, address), await collectionAt(chain, address)];
  if (stored === undefined || replayed === undefined) return [];
  const real = { ...replayed, owner: owner ?? stored.owner };
  const wrong = COMPARED.filter((column) => stored[column] !== real[column]);
  if (wrong.length === 0) return [];
  if (repair) {
    const change = Object.fromEntries(wrong.map((column) => [column, real[column]]));
    await trx.updateTable("collections").set(change).where("address", "=", address).execute();
  }
  return wrong.map((column) => ({
    what: `${column} of collection ${address}`,
    stored: String(stored[column]),
    chain: String(real[column]),
  }));
}

function collectionAt(db: Db, address: string): Promise<CollectionRow | undefined> {
  return db.selectFrom("collections").selectAll().where("address", "=", address).executeTakeFirst();
}
