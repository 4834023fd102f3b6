import { type RawBuilder, sql } from "kysely";

import type { HoldingKey } from "../../domain/token.ts";
import { type Db, engineOf, rowSet } from "../db/sql.ts";

/**
 * The holdings among `keys` that are stored, as a table expression: `seq`, and `ord`, the place in `keys`.
 *
 * PostgreSQL is asked for the first row from the key on, in the order of contract, token and owner, which only one index has.
 * For plain equality, its planner takes the index of an owner or of a token to be as good when an owner has few tokens on
 * average, or before the first statistics. Then each key reads all tokens of its owner, or all owners of its token, and some
 * have hundreds of thousands.
 */
export function storedHoldings(db: Db, keys: readonly HoldingKey[]): RawBuilder<unknown> {
  const rows = keys.map(({ contract, tokenId, owner }) => ({ contract, token_id: tokenId, owner }));
  const input = rowSet(db, { contract: "text", token_id: "text", owner: "text" }, rows);
  const isWanted = (row: string) =>
    sql.join(
      ["contract", "token_id", "owner"].map((name) => sql`${sql.ref(`${row}.${name}`)} = ${sql.ref(`input.${name}`)}`),
      sql` and `,
    );
  if (engineOf(db) === "postgres") {
    return sql`(select first.seq, input.ord from ${input} as input cross join lateral (
      select item.seq, item.contract, item.token_id, item.owner from holdings as item
       where (item.contract, item.token_id, item.owner) >= (input.contract, input.token_id, input.owner)
       order by item.contract, item.token_id, item.owner limit 1) as first where ${isWanted("first")})`;
  }
  return sql`(select holdings.seq, input.ord from ${input} as input join holdings on ${isWanted("holdings")})`;
}
