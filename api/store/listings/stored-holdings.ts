import { type RawBuilder, sql } from "kysely";

import { type Db, engineOf } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";

/** Names a holding: a wallet and a token. */
export interface HoldingKey {
  contract: string;
  tokenId: string;
  owner: string;
}

/**
 * Those of the holdings that are stored, as a table expression: `seq`, and `ord`, the place in `keys`.
 *
 * PostgreSQL gets a comparison that no index but that of contract, token and owner can answer. When an owner has few tokens on
 * average, or before the first statistics, its planner takes the indexes of an owner and of a token to be as good. Then each
 * key would read all tokens of that owner, or all owners of that token, and some have hundreds of thousands.
 */
export function storedHoldings(db: Db, keys: readonly HoldingKey[]): RawBuilder<unknown> {
  const rows = keys.map(({ contract, tokenId, owner }) => ({ contract, token_id: tokenId, owner }));
  const input = rowSet(db, { contract: "text", token_id: "text", owner: "text" }, rows);
  if (engineOf(db) === "sqlite") {
    return sql`(select holdings.seq, input.ord from ${input} as input
      join holdings on holdings.contract = input.contract and holdings.token_id = input.token_id and holdings.owner = input.owner)`;
  }
  const stored = sql`(item.contract, item.token_id, item.owner)`;
  const wanted = sql`(input.contract, input.token_id, input.owner)`;
  return sql`(select found.seq, input.ord from ${input} as input cross join lateral (
      select item.seq from holdings as item where ${stored} >= ${wanted} and ${stored} <= ${wanted}
       order by item.contract, item.token_id, item.owner limit 1) as found)`;
}
