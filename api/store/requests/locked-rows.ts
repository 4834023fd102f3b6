import { sql } from "kysely";

import { type HoldingKey, holdingKey, type TokenKey, tokenKey } from "../../domain/token.ts";
import type { HoldingRow, NftRow } from "../db/schema.ts";
import { forUpdate, rowSet, type Trx } from "../db/sql.ts";
import { storedHoldings } from "../listings/stored-holdings.ts";

/* The rows of a set of tokens or holdings, read with one statement. Nobody else changes them until the end of the transaction. */

type LockedToken = Pick<
  NftRow,
  "seq" | "contract" | "token_id" | "request_id" | "supply" | "reserved" | "minted_block" | "minted_at"
>;

/** @returns the stored tokens by `tokenKey`. */
export async function lockTokens(trx: Trx, keys: Iterable<TokenKey>): Promise<Map<string, LockedToken>> {
  const wanted = Array.from(keys, ({ contract, tokenId }) => ({ contract, token_id: tokenId }));
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<LockedToken>`
    select nfts.seq, nfts.contract, nfts.token_id, nfts.request_id, nfts.supply, nfts.reserved, nfts.minted_block, nfts.minted_at
      from nfts join ${rowSet(trx, { contract: "text", token_id: "text" }, wanted)} as input
        on nfts.contract = input.contract and nfts.token_id = input.token_id
     order by nfts.seq ${forUpdate(trx)}`.execute(trx);
  return new Map(rows.map((row) => [tokenKey({ contract: row.contract, tokenId: row.token_id }), row]));
}

type LockedHolding = Pick<HoldingRow, "seq" | "contract" | "token_id" | "owner" | "quantity" | "reserved" | "unlisted">;

/** @returns the stored holdings by `holdingKey`. */
export async function lockHoldings(trx: Trx, keys: Iterable<HoldingKey>): Promise<Map<string, LockedHolding>> {
  const wanted = [...keys];
  if (wanted.length === 0) return new Map();
  const { rows } = await sql<LockedHolding>`
    select seq, contract, token_id, owner, quantity, reserved, unlisted from holdings
     where seq in (select seq from ${storedHoldings(trx, wanted)} as stored)
     order by seq ${forUpdate(trx)}`.execute(trx);
  return new Map(
    rows.map((row) => [holdingKey({ contract: row.contract, tokenId: row.token_id, owner: row.owner }), row]),
  );
}
