import { sql } from "kysely";

import {
  FAILURES_ALLOWED,
  type KnownContract,
  LONGEST_QUARANTINE,
  quarantineLength,
  type QuarantineReason,
} from "../../domain/followed-contract.ts";
import { AT_ONCE, firstDue } from "../db/due.ts";
import type { ForeignContractRow } from "../db/schema-contracts.ts";
import { forUpdateSkipLocked, lockLedger, rowSet, textSet, type Db, type Trx } from "../db/sql.ts";
import { checkpointOf } from "../db/meta.ts";
import { AT_A_TIME, leaseUntil, READ_WAIT } from "./contract-reads.ts";
import { followFromNow } from "./follow.ts";
import { adoptedAmong, noteForeignChange, unfollowContract } from "./indexed-contracts.ts";

/** Blocks over which moves are counted. */
const FLOOD_BLOCKS = 500;
/** Moves of all followed contracts that one commit stores. An app can follow a hundred contracts that are each below the limit. */
const MOST_TOGETHER = 10_000;
/** A contract that behaves this long after a quarantine starts with short ones again. In milliseconds. */
const FORGIVEN = 86_400_000;
/** How long the service remembers that an address is not a token contract. In milliseconds. */
const UNSUPPORTED_FOR = 600_000;

/** A contract that was put into quarantine now. */
export interface Quarantined {
  address: string;
  reason: QuarantineReason;
  /** When the quarantine ends, in milliseconds since 1970. */
  until: number;
}

/**
 * The contracts with more than `limit` moves in 500 blocks, or of the contracts that are together above what one commit stores,
 * those with the most moves. Their moves are not stored: quarantine them.
 * @param moves of each contract, up to `block`.
 */
export async function floodingAmong(
  db: Db,
  moves: ReadonlyMap<string, number>,
  { block, limit }: { block: number; limit: number },
): Promise<Set<string>> {
  if (moves.size === 0) return new Set();
  const { rows } = await sql<{ address: string; window_logs: number }>`
    select address, window_logs from foreign_contracts
     where address in ${textSet(db, moves.keys())} and window_from > ${block - FLOOD_BLOCKS}`.execute(db);
  const before = new Map(rows.map(({ address, window_logs: count }) => [address, count]));
  let together = 0;
  const fewestFirst = [...moves].sort(([, a], [, b]) => a - b);
  const flooding = fewestFirst.filter(([address, count]) => {
    if (count + (before.get(address) ?? 0) > limit) return true;
    together += count;
    return together > Math.max(limit, MOST_TOGETHER);
  });
  return new Set(flooding.map(([address]) => address));
}

/** Counts the moves of contracts. */
export async function countMoves(trx: Trx, moves: ReadonlyMap<string, number>, block: number): Promise<void> {
  if (moves.size === 0) return;
  const rows = [...moves].map(([address, count]) => ({ address, count }));
  await sql`
    update foreign_contracts set
           window_logs = case when window_from > ${block - FLOOD_BLOCKS} then window_logs + input.count else input.count end,
           window_from = case when window_from > ${block - FLOOD_BLOCKS} then window_from else ${block} end
      from ${rowSet(trx, { address: "text", count: "integer" }, rows)} as input
     where foreign_contracts.address = input.address`.execute(trx);
}

/** Records which contracts answered a read within its limits, and quarantines those that keep failing. */
export async function recordReads(
  trx: Trx,
  reads: { answered: readonly string[]; failed: readonly string[] },
  now: number,
): Promise<Quarantined[]> {
  if (reads.answered.length + reads.failed.length === 0) return [];
  await lockLedger(trx);
  const { rows: healed } = await sql`
    update foreign_contracts set failures = 0
     where failures > 0 and address in ${textSet(trx, reads.answered)}
    returning address`.execute(trx);
  if (healed.length + reads.failed.length > 0) await noteForeignChange(trx);
  if (reads.failed.length === 0) return [];
  const { rows: failed } = await sql<{ address: string; failures: number }>`
    update foreign_contracts set failures = failures + 1
     where state = 'followed' and address in ${textSet(trx, reads.failed)}
    returning address, failures`.execute(trx);
  const failing = failed.flatMap(({ address, failures }) => (failures >= FAILURES_ALLOWED ? [address] : []));
  return quarantine(trx, failing, "failing", { asOf: await checkpointOf(trx), now });
}

/** @param asOf the last block whose logs of the contracts are stored. Those whose past is read stay where they are. */
export async function quarantine(
  trx: Trx,
  addresses: readonly string[],
  reason: QuarantineReason,
  { asOf, now }: { asOf: number; now: number },
): Promise<Quarantined[]> {
  if (addresses.length === 0) return [];
  await lockLedger(trx);
  const quarantined: Quarantined[] = [];
  for (const address of addresses) {
    const contract = await trx
      .selectFrom("foreign_contracts")
      .select(["as_of", "quarantines", "released_at"])
      .where("address", "=", address)
      .where("state", "in", ["followed", "reading"])
      .executeTakeFirst();
    if (contract === undefined) continue;
    const forgiven = contract.released_at === null || now - contract.released_at > FORGIVEN;
    const earlier = forgiven ? 0 : contract.quarantines;
    const until = now + quarantineLength(earlier);
    await trx
      .updateTable("foreign_contracts")
      .set({ state: "quarantined", reason, due_at: until, quarantines: earlier + 1, as_of: contract.as_of ?? asOf })
      .where("address", "=", address)
      .execute();
    // Its reads wait, and do not stand in the way of others.
    await trx
      .updateTable("contract_reads")
      .set({ due_at: until })
      .where("contract", "=", address)
      .where("due_at", "is not", null)
      .execute();
    quarantined.push({ address, reason, until });
  }
  if (quarantined.length > 0) await noteForeignChange(trx);
  return quarantined;
}

/** Takes contracts whose type must be asked, or whose quarantine is over. The lease keeps other processes away. */
export async function leaseContracts(trx: Trx, now: number): Promise<ForeignContractRow[]> {
  await lockLedger(trx);
  const due = await firstDue({ now, limit: AT_A_TIME.all, longestWait: LONGEST_QUARANTINE }, (comparison, at, most) => {
    const search = trx.selectFrom("foreign_contracts").selectAll().where("due_at", comparison, at);
    const first = search.orderBy("due_at").limit(most);
    return first.modifyEnd(forUpdateSkipLocked(trx, "foreign_contracts")).execute();
  });
  const forgotten = due.filter(({ state }) => state === "unsupported").map(({ address }) => address);
  if (due.length > 0) await sql`delete from foreign_contracts where address in ${textSet(trx, forgotten)}`.execute(trx);
  const taken = due
    .filter(({ state }) => state !== "unsupported")
    .map((contract) => ({ ...contract, due_at: leaseUntil(now, contract.failures) }));
  if (taken.length === 0) return [];
  const rows = taken.map(({ address, due_at }) => ({ address, due_at }));
  await sql`
    update foreign_contracts set due_at = input.due_at, failures = failures + 1
      from ${rowSet(trx, { address: "text", due_at: "integer" }, rows)} as input
     where foreign_contracts.address = input.address`.execute(trx);
  return taken;
}

/** All logs of the contract are read from now on. */
export const FOLLOWED = { state: "followed", due_at: null, failures: 0, reason: null, as_of: null } as const;

/**
 * Changes a contract that was leased. The end of the lease is the fencing token, and `due_at` the time when it is due again.
 * @returns false: another process has taken it since, so nothing is changed.
 */
export async function changeLeased(
  trx: Trx,
  { address, state, due_at }: ForeignContractRow,
  change: Partial<ForeignContractRow> & Pick<ForeignContractRow, "due_at">,
): Promise<boolean> {
  const update = trx
    .updateTable("foreign_contracts")
    .set({ failures: 0, ...change })
    .where("address", "=", address);
  const { numUpdatedRows } = await update.where("state", "=", state).where("due_at", "=", due_at).executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Stores the answer of a contract that was asked for its type. Changes nothing if another process has taken it since.
 * @param known null: it is not a token contract. Undefined: nobody knows. It is asked again soon, and the try does not count.
 */
export async function recordInspection(
  trx: Trx,
  contract: ForeignContractRow,
  known: KnownContract | null | undefined,
  now: number,
): Promise<void> {
  await lockLedger(trx);
  const { address, failures } = contract;
  if (known === undefined) {
    await changeLeased(trx, contract, { due_at: now + READ_WAIT.first, failures });
    return;
  }
  const isReleased = contract.state === "quarantined";
  const release = isReleased ? { window_logs: 0, released_at: now } : {};
  // Whatever an adopted contract says now: its logs are read further.
  if ((await adoptedAmong(trx, [address])).size > 0) {
    await changeLeased(trx, contract, { ...release, state: "reading", reason: null, due_at: AT_ONCE });
    return;
  }
  const unsupported = { state: "unsupported", due_at: now + UNSUPPORTED_FOR } as const;
  const next = known === null ? unsupported : { ...FOLLOWED, type: known.type, name: known.name };
  if (!(await changeLeased(trx, contract, { ...release, ...next }))) return;
  const follows = await followsOf(trx, address);
  if (known === null) for (const { appId } of follows) await unfollowContract(trx, appId, address);
  else if (isReleased) await readAllAgain(trx, follows);
  else await followFromNow(trx, [address]);
  await noteForeignChange(trx);
}

/** A contract, for one app that follows it. */
interface Follow {
  appId: string;
  contract: string;
}

/**
 * Reads the wallets of apps from the chain again: the balances that are stored, and, by a search, the tokens that the
 * wallets received meanwhile. For contracts whose logs were not read for some blocks.
 */
export async function readAllAgain(trx: Trx, follows: readonly Follow[]): Promise<void> {
  if (follows.length === 0) return;
  const block = await checkpointOf(trx);
  // Of adopted contracts the logs are read again.
  const adopted = await adoptedAmong(trx, new Set(follows.map(({ contract }) => contract)));
  const rows = follows.flatMap(({ appId, contract }) =>
    adopted.has(contract) ? [] : [{ app_id: appId, address: contract }],
  );
  const held = () => sql`
    ${rowSet(trx, { app_id: "text", address: "text" }, rows)} as input
      join holdings on holdings.contract = input.address
      join wallets on wallets.address = holdings.owner and wallets.app_id = input.app_id`;
  await sql`
    insert into uncertain_holdings (contract, token_id, owner, block)
    select holdings.contract, holdings.token_id, holdings.owner, cast(${block} as bigint) from ${held()} where true
    on conflict (contract, owner, token_id) do update set block = excluded.block`.execute(trx);
  await sql`
    insert into contract_reads (contract, owner, app_id, search, complete_to, due_at, tries, fence)
    select distinct holdings.contract, holdings.owner, wallets.app_id, 1, cast(null as bigint), cast(${AT_ONCE} as bigint), 0, 0
      from ${held()} where true
    on conflict (contract, owner) do nothing`.execute(trx);
  // The fence ends reads that began before.
  await sql`
    update contract_reads set search = 1, due_at = ${AT_ONCE}, fence = fence + 1, tries = 0
     where (app_id, contract) in
      (select app_id, address from ${rowSet(trx, { app_id: "text", address: "text" }, rows)} as input)`.execute(trx);
}

/** The apps that follow a contract. */
async function followsOf(trx: Trx, contract: string): Promise<Follow[]> {
  return trx
    .selectFrom("contract_follows")
    .select(["app_id as appId", "address as contract"])
    .where("address", "=", contract)
    .where("ended_at", "is", null)
    .execute();
}
