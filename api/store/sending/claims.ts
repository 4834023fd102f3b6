import { randomBytes } from "node:crypto";

import { type RawBuilder, sql } from "kysely";

import type { Backoff } from "../../domain/backoff.ts";
import type { StoredReason } from "../../domain/waiting-for.ts";
import type { ChainOutcome } from "../../domain/request.ts";
import { AT_ONCE, LONGEST_WAIT } from "../db/due.ts";
import { type Db, forUpdateSkipLocked, rowSet, textSet, type Trx } from "../db/sql.ts";
import { type Queue, roundRobin } from "../db/round-robin.ts";
import { type FailedRow, mayBeTried, type ParkedRow, parkRows } from "../db/parked-rows.ts";
import type { RequestRow } from "../db/schema.ts";
import { failWithoutEffect } from "../requests/request-state.ts";
import { type NumberedRequest, type DecidedRequest, toNumberedRequest } from "../requests/requests.ts";
import { holdLease, type Lease } from "./lanes.ts";

/** What one claim took, and the rows that cannot be read, which it has parked. */
export interface Claims {
  claimed: NumberedRequest[];
  parked: ParkedRow[];
}

const READY: Queue = { table: "requests", owner: "app_id", at: "ready_at" };

/**
 * Claims ready requests for this lane and gives each its number for life. The apps take turns, so that a busy app does
 * not delay the others: of k apps with ready requests, each gets at least `limit / k` (rounded down) or all that it has. Of
 * one app the oldest come first. A row that cannot be read is parked.
 * @param nextNumber draws a number that was never used before.
 * @param only ids of the requests that may be claimed; default: all.
 */
export async function claimRequests(
  trx: Trx,
  lease: Lease,
  options: { limit: number; now: number; nextNumber: () => bigint; only?: readonly string[] | undefined },
): Promise<Claims> {
  await holdLease(trx, lease);
  const { limit, now, only } = options;
  const among = only === undefined ? sql`` : sql`and requests.id in ${textSet(trx, only)}`;
  const { rows: ready } = await sql<RequestRow>`
    ${readyLine(trx, now, limit)}
    select requests.* from due join requests on requests.seq = due.seq and requests.ready_at = due.at
     where ${mayBeTried("request", sql`requests.id`, now)} ${among}
     order by due.place, due.at, due.seq limit ${limit} ${forUpdateSkipLocked(trx, "requests")}`.execute(trx);
  const claimed: NumberedRequest[] = [];
  const unreadable: FailedRow[] = [];
  for (const row of ready) {
    try {
      const number = row.number ?? options.nextNumber().toString();
      claimed.push(toNumberedRequest({ ...row, ready_at: null, lane: lease.lane, number, waiting_for: null }));
    } catch (error) {
      unreadable.push({ id: row.id, error });
    }
  }
  const parked = await parkRequests(trx, unreadable, now);
  if (claimed.length === 0) return { claimed, parked };
  const numbers = claimed.map(({ id, number }) => ({ id, number: number.toString() }));
  await sql`
    update requests set ready_at = null, lane = ${lease.lane}, number = input.number, waiting_for = null
      from ${rowSet(trx, { id: "text", number: "text" }, numbers)} as input where requests.id = input.id`.execute(trx);
  return { claimed, parked };
}

function readyLine(db: Db, now: number, limit: number): RawBuilder<unknown> {
  return roundRobin(db, READY, { now, longestWait: LONGEST_WAIT, limit });
}

/** The requests that `claimRequests` would claim. */
export async function readyRequests(db: Db, now: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    ${readyLine(db, now, limit)}
    select requests.id from due join requests on requests.seq = due.seq
     where ${mayBeTried("request", sql`requests.id`, now)} order by due.place, due.at, due.seq limit ${limit}`.execute(
    db,
  );
  return rows.map(({ id }) => id);
}

/** A claimed request that the next transaction of its lane does not carry, and what becomes of it. */
export type Unsent =
  /** It is ready again after this time, in milliseconds. */
  | { kind: "ready"; request: NumberedRequest; retryIn: number; waitingFor: StoredReason | null }
  /** It waits, longer each time, as long as a node names this reason. The operator reads the reason, the app `waitingFor`. */
  | { kind: "held"; request: NumberedRequest; heldBy: string; waitingFor: StoredReason }
  /** It fails. @param cause what the operator must see in the log; null: the failure concerns only the app. */
  | { kind: "fails"; request: NumberedRequest; failure: Omit<Failure, "ok">; cause: unknown };
type Failure = Extract<ChainOutcome, { ok: false }>;

/** Longer each time, a request waits that cannot be sent because of what a node names. In milliseconds. */
const HELD_WAIT = { first: 2_000, longest: 60_000 };

/**
 * Gives claimed requests back, or fails them. One that was signed before may still be mined, so it is postponed instead.
 * @returns those that failed. @throws LeaseLost
 */
export async function returnUnsent(
  trx: Trx,
  lease: Lease,
  unsent: readonly Unsent[],
  now: number,
): Promise<DecidedRequest[]> {
  if (unsent.length === 0) return [];
  await holdLease(trx, lease);
  const ready: ReadyRow[] = [];
  const held: FailedClaim[] = [];
  const failing: { request: NumberedRequest; outcome: Failure }[] = [];
  for (const one of unsent) {
    const { request } = one;
    const { id } = request;
    if (one.kind === "ready")
      ready.push({ id, ready_at: one.retryIn === 0 ? AT_ONCE : now + one.retryIn, waiting_for: one.waitingFor });
    else if (one.kind === "held") held.push({ id, error: one.heldBy, waitingFor: one.waitingFor });
    else if (request.status === "pending") failing.push({ request, outcome: { ok: false, ...one.failure } });
    else ready.push({ id, ready_at: now + LONGEST_WAIT, waiting_for: "simulation" });
  }
  await makeReady(trx, ready);
  if (held.length > 0) await parkRequests(trx, held, now, HELD_WAIT);
  return failing.length === 0 ? [] : failWithoutEffect(trx, failing, now);
}

/** Parks claimed requests whose work fails: no lane claims them until the times that are returned. @throws LeaseLost */
export async function parkClaims(
  trx: Trx,
  lease: Lease,
  failed: readonly FailedRow[],
  now: number,
): Promise<ParkedRow[]> {
  await holdLease(trx, lease);
  return parkRequests(trx, failed, now);
}

/** @param waitingFor default: `unknown`. */
type FailedClaim = FailedRow & { waitingFor?: StoredReason };

async function parkRequests(
  trx: Trx,
  failed: readonly FailedClaim[],
  now: number,
  wait?: Backoff,
): Promise<ParkedRow[]> {
  const parked = await parkRows(trx, "request", failed, now, wait);
  const reasons = new Map(failed.map(({ id, waitingFor }) => [id, waitingFor]));
  await makeReady(
    trx,
    parked.map(({ id, nextAt }) => ({ id, ready_at: nextAt, waiting_for: reasons.get(id) ?? "unknown" })),
  );
  return parked;
}

type ReadyRow = Pick<RequestRow, "id" | "ready_at" | "waiting_for">;

/** The lane gives requests back that it has claimed. */
async function makeReady(trx: Trx, rows: readonly ReadyRow[]): Promise<void> {
  if (rows.length === 0) return;
  const columns = { id: "text", ready_at: "integer", waiting_for: "text" } as const;
  await sql`
    update requests set ready_at = input.ready_at, waiting_for = input.waiting_for, lane = null
      from ${rowSet(trx, columns, rows)} as input
     where requests.id = input.id and batch_id is null and status in ('pending', 'processing')`.execute(trx);
}

/** Returns what a dead process had claimed but not signed. Nothing of it can have reached the chain. */
export async function returnAbandonedClaims(trx: Trx, lease: Lease, now: number): Promise<number> {
  await holdLease(trx, lease);
  const updated = await trx
    .updateTable("requests")
    .set({ ready_at: now, lane: null })
    .where("lane", "=", lease.lane)
    .where("batch_id", "is", null)
    .executeTakeFirst();
  return Number(updated.numUpdatedRows);
}

/** The number of ready requests, counted up to `most`. */
export async function countReady(db: Db, now: number, most: number): Promise<number> {
  // Two searches: one condition for both would pass over every request that still waits. See `isDue`.
  const { rows } = await sql<{ count: number }>`
    select (select count(*) from (select 1 from requests where ready_at <= ${now} limit ${most}) as ready)
         + (select count(*) from (select 1 from requests where ready_at > ${now + LONGEST_WAIT} limit ${most}) as beyond)
        as count`.execute(db);
  return Math.min(rows[0]?.count ?? 0, most);
}

/** Bits of the counter inside one epoch. Numbers are dense because the relay keeps 256 of them in one storage slot. */
const COUNTER_BITS = 32n;

/**
 * Draws request numbers: 64 random bits that this lane's process chooses at start, then a counter. So no other process, and
 * no database restored from a backup, draws the same number again.
 */
export function createNumbers(): () => bigint {
  const newEpoch = () => randomBytes(8).readBigUInt64BE() << COUNTER_BITS;
  let epoch = newEpoch();
  let counter = 0n;
  return () => {
    if (counter >> COUNTER_BITS !== 0n) {
      epoch = newEpoch();
      counter = 0n;
    }
    return epoch | counter++;
  };
}
