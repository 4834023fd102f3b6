import { type RawBuilder, sql } from "kysely";

import type { HoldingKey } from "../../domain/token.ts";
import { AT_ONCE } from "../db/due.ts";
import { type Db, rowSet, type Trx } from "../db/sql.ts";

const COLUMNS = { contract: "text", token_id: "text", owner: "text" } as const;

function rowOf({ contract, tokenId, owner }: HoldingKey) {
  return { contract, token_id: tokenId, owner };
}

/**
 * Marks balances to be read again, and makes the reads of their wallets due. Only wallets whose app follows the contract
 * are read.
 * @param block the block at which, or after which, the balance must be read.
 * @param completeTo the block up to which the stored balances are right.
 */
export async function markUncertain(
  trx: Trx,
  holdings: readonly HoldingKey[],
  { block, completeTo }: { block: number; completeTo: number },
): Promise<void> {
  if (holdings.length === 0) return;
  // PostgreSQL refuses to change a row twice in one statement.
  await sql`
    insert into uncertain_holdings (contract, token_id, owner, block)
    select distinct input.contract, input.token_id, input.owner, cast(${block} as bigint) from ${followed(trx, holdings)}
     where true
    on conflict (contract, owner, token_id) do update
      set block = case when excluded.block > uncertain_holdings.block then excluded.block else uncertain_holdings.block end
  `.execute(trx);
  await sql`
    insert into contract_reads (contract, owner, app_id, search, complete_to, due_at, tries, fence)
    select distinct input.contract, input.owner, wallets.app_id, 0, cast(null as bigint), cast(${AT_ONCE} as bigint), 0, 0
      from ${followed(trx, holdings)} where true
    on conflict (contract, owner) do update set
      complete_to = case when contract_reads.complete_to is null then null
                         when contract_reads.due_at is null or contract_reads.complete_to > ${completeTo} then ${completeTo}
                         else contract_reads.complete_to end,
      due_at = coalesce(contract_reads.due_at, ${AT_ONCE})`.execute(trx);
}

/** Those whose wallet belongs to an app that follows the contract. */
export async function followedAmong<Holding extends HoldingKey>(
  trx: Trx,
  holdings: readonly Holding[],
): Promise<Holding[]> {
  if (holdings.length === 0) return [];
  const { rows } = await sql<{ ord: number }>`select input.ord as ord from ${followed(trx, holdings)}`.execute(trx);
  const found = new Set(rows.map(({ ord }) => ord));
  return holdings.filter((_, index) => found.has(index));
}

/** Of an adopted contract the logs say who holds its tokens. */
function followed(trx: Trx, holdings: readonly HoldingKey[]): RawBuilder<unknown> {
  return sql`${rowSet(trx, COLUMNS, holdings.map(rowOf))} as input
      join wallets on wallets.address = input.owner
      join contract_follows on contract_follows.app_id = wallets.app_id and contract_follows.address = input.contract
                           and contract_follows.ended_at is null
       and not exists (select 1 from collections where collections.address = input.contract)`;
}

/** Removes the marks of balances that were read at block `upTo`. Marks of later blocks stay. @returns those that were marked. */
export async function removeMarks(trx: Trx, holdings: readonly HoldingKey[], upTo: number): Promise<HoldingKey[]> {
  if (holdings.length === 0) return [];
  const { rows } = await sql<HoldingKey>`
    delete from uncertain_holdings where block <= ${upTo} and (contract, token_id, owner) in
      (select contract, token_id, owner from ${rowSet(trx, COLUMNS, holdings.map(rowOf))} as input)
    returning contract, token_id as "tokenId", owner`.execute(trx);
  return rows;
}

/** Balances of a wallet in a contract that are to be read, at most `limit` of them. */
export async function uncertainOf(
  db: Db,
  { contract, owner }: { contract: string; owner: string },
  limit: number,
): Promise<HoldingKey[]> {
  return db
    .selectFrom("uncertain_holdings")
    .select(["contract", "token_id as tokenId", "owner"])
    .where("contract", "=", contract)
    .where("owner", "=", owner)
    .limit(limit)
    .execute();
}

export async function isUncertain(db: Db, { contract, tokenId, owner }: HoldingKey): Promise<boolean> {
  const row = await db
    .selectFrom("uncertain_holdings")
    .select("block")
    .where("contract", "=", contract)
    .where("owner", "=", owner)
    .where("token_id", "=", tokenId)
    .executeTakeFirst();
  return row !== undefined;
}
