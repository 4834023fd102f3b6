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
