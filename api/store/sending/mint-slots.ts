import { sql } from "kysely";

import { type Db, rowSet } from "../db/sql.ts";

/**
 * Which of the collections are soulbound.
 * @returns by address, the bytes of the texts that the contract has among its arguments.
 */
export async function soulboundCollections(db: Db, addresses: readonly string[]): Promise<Map<string, number>> {
  if (addresses.length === 0) return new Map();
  const input = rowSet(
    db,
    { address: "text" },
    addresses.map((address) => ({ address })),
  );
  const { rows } = await sql<{ address: string; bytes: number }>`
    select collections.address,
           octet_length(collections.name) + octet_length(collections.symbol)
             + coalesce(octet_length(collections.base_uri), 0) + coalesce(octet_length(collections.collection_uri), 0)
             as bytes
      from ${input} as input join collections on collections.address = input.address
     where collections.soulbound = 1`.execute(db);
  return new Map(rows.map(({ address, bytes }) => [address, bytes]));
}

/** What an account holds of a contract. */
export interface Balance {
  contract: string;
  owner: string;
  /** ERC1155: each id has a balance of its own. null for ERC721. */
  tokenId: string | null;
}

/** Tokens of an owner that are looked at: one that stays is enough, and an owner may have many that leave. */
const LOOK_AT = 10;

/**
 * Which of the balances are not zero, as of the checkpoint, and stay so after the accepted transfers. In the order of the
 * input.
 */
export async function usedBalances(db: Db, balances: readonly Balance[]): Promise<boolean[]> {
  if (balances.length === 0) return [];
  const rows = balances.map(({ contract, owner, tokenId }) => ({ contract, owner, token_id: tokenId }));
  const input = rowSet(db, { contract: "text", owner: "text", token_id: "text" }, rows);
  // Two searches: one condition for both would pass over everything that the owner holds.
  const { rows: found } = await sql<{ ord: number }>`
    select input.ord from ${input} as input
     where case when input.token_id is null
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
