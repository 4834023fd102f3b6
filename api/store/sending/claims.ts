import { sql } from "kysely";

import type { ChainOutcome } from "../../domain/outcome.ts";
import { LONGEST_WAIT, whenDue } from "../db/due.ts";
import { type Db, engineOf, type Trx } from "../db/engine.ts";
import { rowSet } from "../db/row-set.ts";
import { failBeforeSending } from "../requests/request-state.ts";
import { type NumberedRequest, toNumberedRequest } from "../requests/stored-request.ts";
import { holdLease, type Lease } from "./lanes.ts";

/** A claimed request. It has its number. */
export type ClaimedRequest = NumberedRequest;

/**
 * Claims ready requests for this lane, oldest first, and gives each its number for life.
 * @param nextNumber draws a number that was never used before.
 */
export async function claimRequests(
  trx: Trx,
  lease: Lease,
  options: { limit: number; now: number; nextNumber: () => bigint },
): Promise<ClaimedRequest[]> {
  await holdLease(trx, lease);
  let ready = trx
    .selectFrom("requests")
    .selectAll()
    .where("ready_at", "is not", null)
    .where((eb) => whenDue(eb, eb.ref("ready_at"), options.now, LONGEST_WAIT))
    .orderBy("ready_at")
    .orderBy("seq")
    .limit(options.limit);
  if (engineOf(trx) === "postgres") ready = ready.forUpdate().skipLocked();
  const claimed = (await ready.execute()).map((row) => {
    const number = row.number ?? options.nextNumber().toString();
    return toNumberedRequest({ ...row, ready_at: null, lane: lease.lane, number });
  });
  if (claimed.length === 0) return [];
  const numbers = claimed.map(({ id, number }) => ({ id, number: number.toString() }));
  await sql`
    update requests set ready_at = null, lane = ${lease.lane}, number = input.number
      from ${rowSet(trx, { id: "text", number: "text" }, numbers)} as input where requests.id = input.id`.execute(trx);
  return claimed;
}

/** Returns claimed requests. They can be claimed again from `readyAt` on. */
export async function returnClaims(trx: Trx, ids: string[], readyAt: number): Promise<void> {
  if (ids.length === 0) return;
  const input = rowSet(
    trx,
    { id: "text" },
    ids.map((id) => ({ id })),
  );
  await sql`
    update requests set ready_at = ${readyAt}, lane = null
     where id in (select id from ${input} as input) and batch_id is null and status in ('pending', 'processing')
  `.execute(trx);
}

/** Fails claimed requests that will not be sent. One that was signed before may still be mined, so it is only postponed. */
export async function failClaims(
  trx: Trx,
  lease: Lease,
  failures: (Pick<Extract<ChainOutcome, { ok: false }>, "errorCode" | "errors"> & { request: ClaimedRequest })[],
  now: number,
): Promise<void> {
  await holdLease(trx, lease);
  const signed = failures.filter(({ request }) => request.status !== "pending");
  await returnClaims(
    trx,
    signed.map(({ request }) => request.id),
    now + LONGEST_WAIT,
  );
  const unsent = failures.filter(({ request }) => request.status === "pending");
  await failBeforeSending(
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
  const rows = await db
    .selectFrom("requests")
    .select("seq")
    .where("ready_at", "is not", null)
    .where((eb) => whenDue(eb, eb.ref("ready_at"), now, LONGEST_WAIT))
    .limit(most)
    .execute();
  return rows.length;
}
