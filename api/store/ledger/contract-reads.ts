import { sql, type SqlBool } from "kysely";

import { backoff } from "../../domain/backoff.ts";
import type { CollectionType } from "../../domain/command.ts";
import type { HoldingKey } from "../../domain/token.ts";
import { LONGEST_QUARANTINE } from "../../domain/followed-contract.ts";
import { CounterDeltas } from "../db/counters.ts";
import { AT_ONCE, firstDue } from "../db/due.ts";
import { checkpointOf, readMeta } from "../db/meta.ts";
import { forUpdateSkipLocked, lockLedger, rowSet, textSet, type Trx } from "../db/sql.ts";
import { storedBlock } from "./blocks.ts";
import { setHoldings } from "./holding-set.ts";
import { markUncertain, removeMarks } from "./uncertain.ts";

/** Wait before the second try, in milliseconds. It doubles with each further one. */
export const READ_WAIT = { first: 1_000, longest: 600_000 };
/** How long a process may work on a read, in milliseconds. */
const LEASE = 30_000;
const MINUTE = 60_000;
/** Pieces of work of a process at the same time, and how many of them may be of one app. */
export const AT_A_TIME = { all: 4, ofApp: 2 };

/** A wallet's tokens of a foreign contract that this process has taken, to read them from the chain. */
export interface ContractRead {
  contract: string;
  owner: string;
  appId: string;
  type: CollectionType;
  /** The search for tokens that the wallet received earlier: see `ContractTables`. */
  search: 0 | 1 | 2;
  /** Earlier tries. */
  tries: number;
  /** Fencing token: grows each time the read is taken, so an earlier holder can change nothing any more. */
  fence: number;
}

/**
 * Takes due reads, longest due first. An app gets at most its share of the places, and `perMinute` reads a minute. While
 * the indexer catches up, only searches are taken: the next blocks may change the other balances again.
 */
export async function leaseReads(trx: Trx, now: number, perMinute: number): Promise<ContractRead[]> {
  await lockLedger(trx);
  const minute = Math.floor(now / MINUTE);
  const spent = await trx
    .selectFrom("read_rates")
    .select("app_id")
    .where("minute", "=", minute)
    .where("used", ">=", perMinute)
    .execute();
  const without = new Set(spent.map((row) => row.app_id));
  const onlySearches = await isCatchingUp(trx);
  const taken: ContractRead[] = [];
  while (taken.length < AT_A_TIME.all) {
    const [read] = await firstRead(trx, now, [...without], onlySearches);
    if (read === undefined) break;
    const [fence, tries, due_at] = [read.fence + 1, read.tries + 1, leaseUntil(now, read.tries)];
    const update = trx.updateTable("contract_reads").set({ fence, tries, due_at });
    await update.where("contract", "=", read.contract).where("owner", "=", read.owner).execute();
    taken.push({ ...read, fence });
    if (taken.filter(({ appId }) => appId === read.appId).length === AT_A_TIME.ofApp) without.add(read.appId);
  }
  if (taken.length > 0) await countReads(trx, taken, minute);
  return taken;
}

/**
 * When work that is taken now is due again, unless its process ends it. A process counts the try when it takes the work, so work
 * that kills its process is tried after longer and longer waits. Each wait has another length: what was under way beside such work
 * is taken at another time.
 */
export function leaseUntil(now: number, tries: number): number {
  return now + Math.round((LEASE + backoff(READ_WAIT, tries)) * (1 + Math.random()));
}

/** @param without apps that get no more. @param searches whether only searches are taken. */
async function firstRead(trx: Trx, now: number, without: readonly string[], searches: boolean) {
  return firstDue<ContractRead>({ now, limit: 1, longestWait: LONGEST_QUARANTINE }, (comparison, at, most) => {
    const query = trx
      .selectFrom("contract_reads as read")
      .innerJoin("foreign_contracts as contract", "contract.address", "read.contract")
      .select(["read.contract", "read.owner", "read.app_id as appId", "read.search", "read.tries", "read.fence"])
      .select((eb) => eb.ref("contract.type").$notNull().as("type"))
      .where("read.due_at", comparison, at)
      .where("contract.state", "=", "followed")
      .where(sql<SqlBool>`read.app_id not in ${textSet(trx, without)}`)
      .orderBy("read.due_at")
      .limit(most)
      .modifyEnd(forUpdateSkipLocked(trx, "read"));
    // A literal, so that the index of the searches is used.
    return (searches ? query.where("read.search", "=", sql.lit(1)) : query).execute();
  });
}

async function countReads(trx: Trx, taken: readonly ContractRead[], minute: number): Promise<void> {
  const rows = [...Map.groupBy(taken, ({ appId }) => appId)].map(([app_id, reads]) => ({ app_id, used: reads.length }));
  await sql`
    insert into read_rates (app_id, minute, used)
    select app_id, cast(${minute} as bigint), used from ${rowSet(trx, { app_id: "text", used: "integer" }, rows)} as input
     where true
    on conflict (app_id) do update set
      used = case when read_rates.minute = excluded.minute then read_rates.used + excluded.used else excluded.used end,
      minute = excluded.minute`.execute(trx);
}

/**
 * Stores the tokens that a search found. Their balances are to be read next.
 * @returns false when another process has taken the read over; then nothing is changed.
 */
export async function recordSearch(
  trx: Trx,
  read: ContractRead,
  tokenIds: readonly string[],
  start: ReadStart,
): Promise<boolean> {
  await lockLedger(trx);
  const updated = await trx
    .updateTable("contract_reads")
    .set({ search: 2 })
    .where("contract", "=", read.contract)
    .where("owner", "=", read.owner)
    .where("fence", "=", read.fence)
    .executeTakeFirst();
  if (updated.numUpdatedRows === 0n) return false;
  const { contract, owner } = read;
  const tokens = tokenIds.map((tokenId) => ({ contract, tokenId, owner }));
  await markUncertain(trx, tokens, { block: start.checkpoint, completeTo: start.checkpoint });
  return true;
}

/** Balances that were read. */
interface ReadBalances {
  held: { tokenId: string; quantity: bigint }[];
  /** The block whose state was read. No reorg can drop it, unless it is the checkpoint of the start. */
  block: number;
  /** Whether every balance that waited to be read was read. */
  all: boolean;
  /** When a balance that was not read is tried again. */
  retryAt: number;
}

/**
 * Stores what was read, and ends the read, or makes it due again.
 * @returns false when another process has taken the read over, or a reorg came in between; then nothing is changed.
 */
export async function finishRead(
  trx: Trx,
  read: ContractRead,
  start: ReadStart,
  { held, block, all, retryAt }: ReadBalances,
): Promise<boolean> {
  const { contract, owner } = read;
  await lockLedger(trx);
  const row = await trx
    .selectFrom("contract_reads")
    .select(["fence", "search"])
    .where("contract", "=", contract)
    .where("owner", "=", owner)
    .executeTakeFirst();
  if (row?.fence !== read.fence || (await isDropped(trx, start))) return false;
  const keyOf = ({ tokenId }: { tokenId: string }): HoldingKey => ({ contract, tokenId, owner });
  const marked = new Set((await removeMarks(trx, held.map(keyOf), block)).map(({ tokenId }) => tokenId));
  const counters = new CounterDeltas();
  const known = held.filter(({ tokenId }) => marked.has(tokenId));
  await setHoldings(
    trx,
    known.map((one) => ({ ...keyOf(one), quantity: one.quantity, sinceBlock: start.checkpoint })),
    counters,
  );
  await counters.flush(trx);
  const left = await trx
    .selectFrom("uncertain_holdings")
    .select("token_id")
    .where("contract", "=", contract)
    .where("owner", "=", owner)
    .limit(1)
    .executeTakeFirst();
  await trx
    .updateTable("contract_reads")
    .set(
      left === undefined
        ? { due_at: null, tries: 0, complete_to: row.search === 2 ? start.checkpoint : null }
        : { due_at: all ? AT_ONCE : retryAt, tries: all ? 0 : read.tries + 1 },
    )
    .where("contract", "=", contract)
    .where("owner", "=", owner)
    .execute();
  return true;
}

/** Returns a read, due again at `dueAt`. @param counts whether this try counts as failed. */
export async function returnRead(trx: Trx, read: ContractRead, dueAt: number, counts: boolean): Promise<void> {
  await trx
    .updateTable("contract_reads")
    .set({ due_at: dueAt, tries: counts ? read.tries + 1 : read.tries })
    .where("contract", "=", read.contract)
    .where("owner", "=", read.owner)
    .where("fence", "=", read.fence)
    .execute();
}

/** Makes the tokens of a wallet due to be searched, unless they were searched before or will be. Idempotent. */
export async function wantSearch(
  trx: Trx,
  read: { contract: string; owner: string; appId: string },
  dueAt: number,
): Promise<void> {
  await trx
    .insertInto("contract_reads")
    .values({
      contract: read.contract,
      owner: read.owner,
      app_id: read.appId,
      search: 1,
      complete_to: null,
      due_at: dueAt,
      tries: 0,
      fence: 0,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["contract", "owner"])
        .doUpdateSet((eb) => ({ search: 1, due_at: eb.fn.coalesce("contract_reads.due_at", eb.val(dueAt)) }))
        .where("contract_reads.search", "=", 0),
    )
    .execute();
}

/** The last stored block when a read began. */
export interface ReadStart {
  checkpoint: number;
  /** null when the block is not stored. */
  hash: string | null;
}

export async function startOfRead(trx: Trx): Promise<ReadStart> {
  const checkpoint = await checkpointOf(trx);
  return { checkpoint, hash: (await storedBlock(trx, checkpoint))?.hash ?? null };
}

/** Whether blocks that are deep enough to be final are not stored yet: the indexer catches up. */
async function isCatchingUp(trx: Trx): Promise<boolean> {
  return Number((await readMeta(trx, "confirmed_block")) ?? 0) > (await checkpointOf(trx));
}

/** Whether the block at which a read began was dropped by a reorg. */
async function isDropped(trx: Trx, { checkpoint, hash }: ReadStart): Promise<boolean> {
  if ((await checkpointOf(trx)) < checkpoint) return true;
  const stored = await storedBlock(trx, checkpoint);
  return hash !== null && stored !== undefined && stored.hash !== hash;
}
