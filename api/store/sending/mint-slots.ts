import { sql } from "kysely";

import type { CollectionStorage } from "../../domain/command.ts";
import { type Db, rowSet, textSet } from "../db/sql.ts";

/** What the gas of a call in an ERC721 collection depends on. */
export interface CollectionTraits {
  storage: CollectionStorage;
  /** The bytes of the texts that a soulbound collection has among its arguments; null: it is not soulbound. */
  soulbound: number | null;
}

/** Most collections are like this one, and so are all contracts that the service did not make. */
export const PLAIN_COLLECTION: CollectionTraits = { storage: "standard", soulbound: null };

/** @returns the traits by address, of the collections that differ from a plain one. */
export async function collectionTraits(db: Db, addresses: readonly string[]): Promise<Map<string, CollectionTraits>> {
  if (addresses.length === 0) return new Map();
  const { rows } = await sql<CollectionTraits & { address: string }>`
    select address, storage,
           case soulbound when 1 then
             octet_length(name) + octet_length(symbol)
               + coalesce(octet_length(base_uri), 0) + coalesce(octet_length(collection_uri), 0)
           end as soulbound
      from collections
     where address in ${textSet(db, addresses)} and (soulbound = 1 or storage <> 'standard')`.execute(db);
  return new Map(rows.map(({ address, storage, soulbound }) => [address, { storage, soulbound }]));
}

/** What an account holds of a contract. */
export interface Balance {
  contract: string;
  owner: string;
  /** ERC1155: each id has a balance of its own. null for ERC721. */
  tokenId: string | null;
  /** Whether the contract has compact storage: then an account that ever held one of its tokens keeps a word there for ever. */
  compact: boolean;
}

/** At most this many tokens of an owner, and entries of its history, are checked: one that stays is enough, many may leave. */
const LOOK_AT = 10;

/**
 * Which of the balances are in a slot that is in use, as of the checkpoint: those that are not zero and stay so after the
 * accepted transfers. In the order of the input.
 */
export async function usedBalances(db: Db, balances: readonly Balance[]): Promise<boolean[]> {
  if (balances.length === 0) return [];
  const rows = balances.map(({ tokenId, compact, ...of }) => ({ ...of, token_id: tokenId, compact: compact ? 1 : 0 }));
  const input = rowSet(db, { contract: "text", owner: "text", token_id: "text", compact: "integer" }, rows);
  // Several searches: one condition for all would pass over everything that the owner holds.
  const { rows: found } = await sql<{ ord: number }>`
    select input.ord from ${input} as input
     where case
       when input.compact = 1
       then exists (select 1 from holdings where owner = input.owner and contract = input.contract)
         or exists (select 1 from (select transfer_id from wallet_history
                                    where wallet = input.owner order by transfer_id desc limit ${LOOK_AT}) as recent
                      join transfers on transfers.id = recent.transfer_id
                     where transfers.contract = input.contract)
       when input.token_id is null
       then exists (select 1 from (select reserved from holdings
                                    where owner = input.owner and contract = input.contract limit ${LOOK_AT}) as held
                     where reserved = '0')
       else exists (select 1 from holdings
                     where contract = input.contract and token_id = input.token_id and owner = input.owner
                       and reserved <> quantity)
       end`.execute(db);
  const used = new Set(found.map(({ ord }) => ord));
  return balances.map((_, index) => used.has(index));
}
