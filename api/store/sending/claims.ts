import type { ChainOutcome } from "../../domain/outcome.ts";
import { LONGEST_WAIT, whenDue } from "../db/due.ts";
import { type Db, engineOf, type Trx } from "../db/engine.ts";
import { failBeforeSending } from "../requests/request-state.ts";
import { type NumberedRequest, toNumberedRequest } from "../requests/stored-request.ts";
import { holdLease, type Lease } from "./lanes.ts";

/** A claimed request, which has its number now. */
export type ClaimedRequest = NumberedRequest;

/**
 * Takes requests that are ready, oldest first, for this lane alone, and gives each its number for life.
 * @param nextNumber draws a number that was never given before.
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
  const claimed: ClaimedRequest[] = [];
  for (const row of await ready.execute()) {
    const number = row.number ?? options.nextNumber().toString();
    await trx
      .updateTable("requests")
      .set({ ready_at: null, lane: lease.lane, number })
      .where("id", "=", row.id)
      .execute();
    claimed.push(toNumberedRequest({ ...row, ready_at: null, lane: lease.lane, number }));
  }
  return claimed;
}

/** Gives claimed requests back, to be claimed again from `readyAt` on. */
export async function returnClaims(trx: Trx, ids: string[], readyAt: number): Promise<void> {
  if (ids.length === 0) return;
  await trx
    .updateTable("requests")
    .set({ ready_at: readyAt, lane: null })
    .where("id", "in", ids)
    .where("batch_id", "is", null)
    .where("status", "in", ["pending", "processing"])
    .execute();
}

/** Ends claimed requests that are not to be sent. One that was signed before may still reach the chain: it is put off. */
export async function failClaims(
  trx: Trx,
  lease: Lease,
  failures: (Pick<Extract<ChainOutcome, { ok: false }>, "errorCode" | "errors"> & { request: ClaimedRequest })[],
  now: number,
): Promise<void> {
  await holdLease(trx, lease);
  for (const { request, errorCode, errors } of failures) {
    if (request.status !== "pending") {
      await returnClaims(trx, [request.id], now + LONGEST_WAIT);
      continue;
    }
    await failBeforeSending(trx, request, { ok: false, errorCode, errors }, now);
  }
}

/** What a process left claimed but unsigned when it died is ready again: nothing of it can have reached the chain. */
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

/** How many requests could be claimed now, counted up to `most`. */
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
