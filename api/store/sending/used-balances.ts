import { sql } from "kysely";

import type { Db } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";

/** What an account holds of a contract. */
export interface Balance {
  contract: string;
  owner: string;
  /** ERC1155: each id has a balance of its own. null for ERC721. */
  tokenId: string | null;
}

/** Which of the balances are not zero, as of the checkpoint, in the order of the input. */
export async function usedBalances(db: Db, balances: readonly Balance[]): Promise<boolean[]> {
  if (balances.length === 0) return [];
  const rows = balances.map(({ contract, owner, tokenId }) => ({ contract, owner, token_id: tokenId }));
  const input = rowSet(db, { contract: "text", owner: "text", token_id: "text" }, rows);
  // Two searches: one condition for both would pass over everything that the owner holds.
  const { rows: found } = await sql<{ ord: number }>`
    select input.ord from ${input} as input
     where case when input.token_id is null
       then exists (select 1 from holdings where owner = input.owner and contract = input.contract)
       else exists (select 1 from holdings
                     where contract = input.contract and token_id = input.token_id and owner = input.owner)
       end`.execute(db);
  const used = new Set(found.map(({ ord }) => ord));
  return balances.map((_, index) => used.has(index));
}
