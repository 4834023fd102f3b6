import { type RawBuilder, sql } from "kysely";

import type { Backoff } from "../../domain/backoff.ts";
import type { StoredReason } from "../../domain/waiting-for.ts";
import type { ChainOutcome } from "../../domain/request.ts";
import { LONGEST_WAIT } from "../db/due.ts";
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

const READY: Queue = { table: "requests", at: "ready_at" };

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

/** Parks claimed requests: no lane claims them until the times that are returned. @throws LeaseLost */
export async function parkClaims(
  trx: Trx,
  lease: Lease,
  failed: readonly FailedClaim[],
  now: number,
  wait?: Backoff,
): Promise<ParkedRow[]> {
  if (failed.length === 0) return [];
  await holdLease(trx, lease);
  return parkRequests(trx, failed, now, wait);
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

/** The lane gives requests back that it has claimed. */
async function makeReady(
  trx: Trx,
  rows: readonly Pick<RequestRow, "id" | "ready_at" | "waiting_for">[],
): Promise<void> {
  if (rows.length === 0) return;
  const columns = { id: "text", ready_at: "integer", waiting_for: "text" } as const;
  await sql`
    update requests set ready_at = input.ready_at, waiting_for = input.waiting_for, lane = null
      from ${rowSet(trx, columns, rows)} as input
     where requests.id = input.id and batch_id is null and status in ('pending', 'processing')`.execute(trx);
}

/**
 * Returns requests that the lane has claimed. They can be claimed again from `readyAt` on.
 * @param waitingFor why they wait until then. @throws LeaseLost
 */
export async function returnClaims(
  trx: Trx,
  lease: Lease,
  ids: string[],
  readyAt: number,
  waitingFor: StoredReason | null = null,
): Promise<void> {
  if (ids.length === 0) return;
  await holdLease(trx, lease);
  await makeReady(
    trx,
    ids.map((id) => ({ id, ready_at: readyAt, waiting_for: waitingFor })),
  );
}

/**
 * Fails claimed requests that will not be sent. One that was signed before may still be mined, so it is only postponed.
 * @returns those that failed.
 */
export async function failClaims(
  trx: Trx,
  lease: Lease,
  failures: (Pick<Extract<ChainOutcome, { ok: false }>, "errorCode" | "errors"> & { request: NumberedRequest })[],
  now: number,
): Promise<DecidedRequest[]> {
  await holdLease(trx, lease);
  const signed = failures.filter(({ request }) => request.status !== "pending");
  await returnClaims(
    trx,
    lease,
    signed.map(({ request }) => request.id),
    now + LONGEST_WAIT,
    "simulation",
  );
  const unsent = failures.filter(({ request }) => request.status === "pending");
  return failWithoutEffect(
    trx,
    unsent.map(({ request, errorCode, errors }) => ({ request, outcome: { ok: false, errorCode, errors } })),
    now,
  );
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
