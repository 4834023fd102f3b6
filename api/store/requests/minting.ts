import { sql } from "kysely";
import type { Insertable, Selectable } from "kysely";

import type { ContractTables } from "../db/schema-contracts.ts";
import { type Db, rowSet, textSet, type Trx } from "../db/sql.ts";

/*
 * Minting into adopted contracts. The operator switches it on for a contract as it is. Whatever the chain shows that does not fit
 * stops it, until the operator confirms the contract again.
 */

/** How the service mints into an adopted contract. */
export type MintingRow = Selectable<ContractTables["minting"]>;

/** With whether all logs of the contract are read now: only then a mint is known when it is there. */
type Mintable = MintingRow & { followed: number };

/** Those of the contracts that are adopted, also where minting is stopped, or off. */
export async function mintingOf(db: Db, contracts: ReadonlySet<string>): Promise<Map<string, Mintable>> {
  if (contracts.size === 0) return new Map();
  const { rows } = await sql<Mintable>`
    select minting.*, case when foreign_contracts.state = 'followed' then 1 else 0 end as followed
      from minting join foreign_contracts on foreign_contracts.address = minting.contract
     where minting.contract in ${textSet(db, contracts)}`.execute(db);
  return new Map(rows.map((row) => [row.contract, row]));
}

/** Stores how the service mints into an adopted contract. With an empty function it does not; the owner then is who let it be adopted. */
export async function setMinting(trx: Trx, row: Insertable<ContractTables["minting"]>): Promise<void> {
  const { contract: _contract, created_at: _created, ...changed } = row;
  await trx
    .insertInto("minting")
    .values(row)
    .onConflict((conflict) => conflict.column("contract").doUpdateSet(changed))
    .execute();
}

/** The row stays: it names the owner who has permitted it. @returns false: it was off. */
export async function switchMintingOff(trx: Trx, contract: string): Promise<boolean> {
  const update = trx.updateTable("minting").set({ mint_function: "", stopped: null });
  const { numUpdatedRows } = await update
    .where("contract", "=", contract)
    .where("mint_function", "<>", "")
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Why nothing more is minted into a contract, in words. */
export interface MintingStop {
  contract: string;
  reason: string;
}

/** Stops minting. A first reason stays. */
export async function stopMinting(trx: Trx, stops: readonly MintingStop[]): Promise<void> {
  if (stops.length === 0) return;
  await sql`
    update minting set stopped = input.reason
      from ${rowSet(trx, { contract: "text", reason: "text" }, stops)} as input
     where minting.contract = input.contract and minting.stopped is null and minting.mint_function <> ''`.execute(trx);
}

/** The same for all contracts. */
export async function stopAllMinting(trx: Trx, reason: string): Promise<void> {
  await sql`update minting set stopped = ${reason} where stopped is null and mint_function <> ''`.execute(trx);
}

/** Contracts into which minting is stopped, with the reasons. At most 100. */
export async function stoppedMinting(db: Db): Promise<MintingStop[]> {
  const { rows } = await sql<MintingStop>`
    select contract, stopped as reason from minting
     where stopped is not null and contract > '' order by contract limit 100`.execute(db);
  return rows;
}
