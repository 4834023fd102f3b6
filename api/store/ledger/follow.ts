import { sql } from "kysely";

import type { KnownContract } from "../../domain/followed-contract.ts";
import { addToCounter, CounterDeltas, counterKeys, readCounter } from "../db/counters.ts";
import { AT_ONCE } from "../db/due.ts";
import type { ForeignContractRow } from "../db/schema-contracts.ts";
import { type Db, lockLedger, rowSet, textSet, type Trx } from "../db/sql.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { checkpointOf } from "../db/meta.ts";
import { setHoldings } from "./holding-set.ts";
import { noteForeignChange } from "./indexed-contracts.ts";
import { listHoldings } from "./listed-holdings.ts";

/* Following contracts of others, and the balances that the chain reported. All of it works on sets. */

/** The contract at an address, and whether the app follows it. */
export interface FollowedContract extends ForeignContractRow {
  followed: boolean;
}

/** @returns the contracts by address. Those that no app has ever followed are left out. */
export async function findForeignContracts(
  db: Db,
  appId: string,
  addresses: Iterable<string>,
): Promise<Map<string, FollowedContract>> {
  const wanted = new Set(addresses);
  if (wanted.size === 0) return new Map();
  const { rows } = await sql<ForeignContractRow & { follow: number | null }>`
    select foreign_contracts.*, contract_follows.seq as follow
      from foreign_contracts left join contract_follows on contract_follows.address = foreign_contracts.address
       and contract_follows.app_id = ${appId} and contract_follows.ended_at is null
     where foreign_contracts.address in ${textSet(db, wanted)}`.execute(db);
  return new Map(rows.map(({ follow, ...contract }) => [contract.address, { ...contract, followed: follow !== null }]));
}

/** Without the collections of the service, or those, too, that an app has adopted. */
async function without(trx: Trx, which: "own" | "own and adopted", addresses: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from collections
     where adopted <= ${which === "own" ? 0 : 1} and address in ${textSet(trx, addresses)}`.execute(trx);
  const collections = new Set(rows.map(({ address }) => address));
  return addresses.filter((address) => !collections.has(address));
}

/**
 * Makes the app follow contracts from the next block on. Idempotent.
 * @param follow the contracts by address; null when one must first be asked for its type. `quota`: the most contracts of one app.
 * @returns those that the app does not follow, because it follows as many contracts as it may.
 */
export async function followContracts(
  trx: Trx,
  follow: { appId: string; contracts: ReadonlyMap<string, KnownContract | null>; quota: number; now: number },
): Promise<Set<string>> {
  const { appId, contracts, now } = follow;
  if (contracts.size === 0) return new Set();
  await lockLedger(trx);
  // A caller can name a collection of the service before its block is stored. Such a contract is not followed as foreign.
  const foreign = await without(trx, "own", [...contracts.keys()]);
  const earlier = await findForeignContracts(trx, appId, foreign);
  const others = foreign.filter((address) => earlier.get(address)?.followed !== true);
  const followed = others.length === 0 ? 0 : await readCounter(trx, counterKeys.contracts(appId));
  const left = Math.max(0, follow.quota - followed);
  const [added, refused] = [others.slice(0, left), new Set(others.slice(left))];
  await insertFollows(trx, appId, added, now);
  const stored = await storeContracts(
    trx,
    foreign.flatMap((address) => (refused.has(address) ? [] : [[address, contracts.get(address) ?? null] as const])),
    now,
  );
  if (added.length + stored > 0) await noteForeignChange(trx);
  return refused;
}

async function insertFollows(trx: Trx, appId: string, addresses: readonly string[], now: number): Promise<void> {
  if (addresses.length === 0) return;
  const from = await checkpointOf(trx);
  await sql`
    insert into contract_follows (app_id, address, followed_from, ended_at, created_at)
    select ${appId}, address, cast(${from} as bigint), null, cast(${now} as bigint)
      from ${rowSet(
        trx,
        { address: "text" },
        addresses.map((address) => ({ address })),
      )} as input order by ord`.execute(trx);
  await addToCounter(trx, counterKeys.contracts(appId), addresses.length);
  await listHoldings(trx, "contract", addresses);
}

/** Adds contracts, and the types of those that were followed before their types were known. @returns how many. */
async function storeContracts(
  trx: Trx,
  contracts: readonly (readonly [string, KnownContract | null])[],
  now: number,
): Promise<number> {
  const rows = contracts.map(([address, known]) => ({
    address,
    type: known?.type ?? null,
    name: known?.name ?? null,
    state: known === null ? "checking" : "followed",
    due_at: known === null ? AT_ONCE : null,
  }));
  const columns = { address: "text", type: "text", name: "text", state: "text", due_at: "integer" } as const;
  const { rows: stored } = await sql<{ address: string }>`
    insert into foreign_contracts (address, type, name, state, reason, due_at, as_of, failures, quarantines, released_at,
                                   window_from, window_logs, created_at)
    select address, type, name, state, null, due_at, null, 0, 0, null, 0, 0, cast(${now} as bigint)
      from ${rowSet(trx, columns, rows)} as input where true order by ord
    on conflict (address) do update
       set type = excluded.type, name = excluded.name, state = excluded.state, due_at = excluded.due_at,
           failures = 0
     where foreign_contracts.state in ('checking', 'unsupported') and excluded.type is not null
    returning address`.execute(trx);
  await followFromNow(
    trx,
    stored.map(({ address }) => address),
  );
  return stored.length;
}

/** Blocks that were stored before the contracts' types were known were read without their logs. */
export async function followFromNow(trx: Trx, contracts: readonly string[]): Promise<void> {
  if (contracts.length === 0) return;
  const from = await checkpointOf(trx);
  await sql`
    update contract_follows set followed_from = ${from}
     where ended_at is null and address in ${textSet(trx, contracts)}`.execute(trx);
}

/**
 * Lets follows begin after the blocks that this transaction has stored. They began while these blocks were read, so the logs
 * of their contracts were not read.
 * @param since the last block before these. Follows that began earlier keep their beginning: their contracts were in quarantine.
 */
export async function followAfter(
  trx: Trx,
  follows: readonly { appId: string; contract: string }[],
  { since }: { since: number },
): Promise<void> {
  if (follows.length === 0) return;
  const rows = follows.map(({ appId, contract }) => ({ app_id: appId, address: contract }));
  await sql`
    update contract_follows set followed_from = ${await checkpointOf(trx)}
     where ended_at is null and followed_from >= ${since}
       and (app_id, address) in
        (select app_id, address from ${rowSet(trx, { app_id: "text", address: "text" }, rows)} as input)`.execute(trx);
}

/** A wallet's balance of a foreign token. */
export interface ForeignHolding extends HoldingKey {
  quantity: string;
}

/** Stores balances of foreign tokens, as the chain reported them at `block`. Those of adopted contracts are stored already. */
export async function recordForeignHoldings(
  trx: Trx,
  holdings: readonly ForeignHolding[],
  block: number,
): Promise<void> {
  if (holdings.length === 0) return;
  await lockLedger(trx);
  const contracts = [...new Set(holdings.map(({ contract }) => contract))];
  const foreign = new Set(await without(trx, "own and adopted", contracts));
  const counters = new CounterDeltas();
  const stored = holdings
    .filter(({ contract }) => foreign.has(contract))
    .map(({ quantity, ...key }) => ({ ...key, quantity: BigInt(quantity), sinceBlock: block }));
  await setHoldings(trx, stored, counters);
  await counters.flush(trx);
}
