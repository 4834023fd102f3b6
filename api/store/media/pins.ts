import { sql } from "kysely";

import { AT_ONCE, firstDue } from "../db/due.ts";
import { type Db, forUpdate, forUpdateSkipLocked, textSet, type Trx } from "../db/sql.ts";
import { namingRows } from "../db/parked-rows.ts";

/** Longest wait before a retry, in milliseconds. */
export const LONGEST_PIN_WAIT = 600_000;

/** Content that this process has taken, to pin it at the node or to remove its pin there. */
export interface DuePin {
  cid: string;
  /** Whether it is hosted. Otherwise its pin is removed. */
  hosted: boolean;
  /** Earlier tries. */
  tries: number;
  /** Fencing token: grows each time the pin is taken, so an earlier holder can change nothing any more. */
  fence: number;
}

/**
 * Schedules the pinning of content. It runs in the transaction that makes the content hosted, so a crash cannot lose it.
 * Without a pinning node the pin waits for one. For known content only the time changes. If its pin is being removed, it is
 * pinned again once the process that removes it has finished, or its lease has expired.
 */
export async function addPin(trx: Trx, cid: string, now: number): Promise<void> {
  await trx
    .insertInto("pins")
    .values({ cid, hosted: 1, due_at: AT_ONCE, tries: 0, fence: 0, error: null, created_at: now })
    .onConflict((conflict) => conflict.column("cid").doUpdateSet({ created_at: now, hosted: 1 }))
    .execute();
}

/** Takes due pins. The lease keeps other processes away until `leaseUntil`. */
export async function leasePins(
  trx: Trx,
  { now, leaseUntil, limit }: { now: number; leaseUntil: number; limit: number },
): Promise<DuePin[]> {
  const due = await firstDue({ now, longestWait: LONGEST_PIN_WAIT, limit }, (comparison, at, most) => {
    const search = trx.selectFrom("pins").select(["cid", "hosted", "tries", "fence"]).where("due_at", comparison, at);
    return search.orderBy("due_at").limit(most).modifyEnd(forUpdateSkipLocked(trx, "pins")).execute();
  });
  if (due.length === 0) return [];
  const cids = due.map(({ cid }) => cid);
  const take = sql`update pins set fence = fence + 1, due_at = ${leaseUntil} where cid in ${textSet(trx, cids)}`;
  await namingRows("pins", cids, () => take.execute(trx));
  return due.map(({ hosted, fence, ...pin }) => ({ ...pin, hosted: hosted === 1, fence: fence + 1 }));
}

/** Renews the leases. */
export async function renewPins(trx: Trx, pins: DuePin[], leaseUntil: number): Promise<void> {
  for (const pin of pins) await update(trx, pin, { due_at: leaseUntil });
}

/** The node has pinned the content. If the content is not hosted any more, the pin stays due and is removed. */
export async function finishPin(trx: Trx, pin: DuePin): Promise<void> {
  await trx
    .updateTable("pins")
    .set({ due_at: null, tries: 0, error: null })
    .where("cid", "=", pin.cid)
    .where("fence", "=", pin.fence)
    .where("hosted", "=", 1)
    .execute();
}

/**
 * The node has removed the pin. If the content is hosted again, or if another process has taken the pin meanwhile, it is
 * pinned again: the node may have removed the new pin.
 */
export async function finishUnpin(trx: Trx, pin: DuePin): Promise<void> {
  const gone = trx.deleteFrom("pins").where("cid", "=", pin.cid).where("hosted", "=", 0);
  await gone.where("fence", "=", pin.fence).execute();
  // A process that pins it at this moment may have done so before the removal, so its result does not count.
  await sql`
    update pins set due_at = ${AT_ONCE}, fence = fence + 1, tries = 0, error = null
     where cid = ${pin.cid} and hosted = 1`.execute(trx);
}

/** Returns a pin, due again at `dueAt`. @param error why the try failed; null: this process stops, so the try does not count. */
export async function returnPin(trx: Trx, pin: DuePin, dueAt: number, error: string | null): Promise<void> {
  await update(trx, pin, { due_at: dueAt, ...(error === null ? {} : { tries: pin.tries + 1, error }) });
}

/** Notes that hosted content is named again now, so that a running garbage collection does not remove it. */
export async function keepContent(trx: Trx, cids: readonly string[], now: number): Promise<void> {
  if (cids.length === 0) return;
  await sql`update pins set created_at = ${now} where cid in ${textSet(trx, cids)}`.execute(trx);
}

/**
 * Whether the content was stored, stored again or named again, since then. Locks the pin: whoever stores the content at the
 * same time changes the pin first, so one of the two waits for the other.
 */
export async function isHostedSince(trx: Trx, cid: string, since: number): Promise<boolean> {
  const { rows } = await sql<{ hosted: 0 | 1; created_at: number }>`
    select hosted, created_at from pins where cid = ${cid} ${forUpdate(trx)}`.execute(trx);
  return rows.some((row) => row.hosted === 1 && row.created_at >= since);
}

/** Schedules the removal of the pin of content that is not hosted any more. A pin that was never tried is forgotten. */
export async function removePin(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("pins").where("cid", "=", cid).where("fence", "=", 0).execute();
  // A process that pins it now has a lease. The removal waits for that process, or until the lease expires.
  await sql`
    update pins set hosted = 0, tries = 0, error = null, due_at = coalesce(due_at, ${AT_ONCE})
     where cid = ${cid} and hosted = 1`.execute(trx);
}

interface WaitingPins {
  count: number;
  /** When the oldest was hosted; null: none waits. */
  oldest: number | null;
  /** Error of a failed try; null: no try has failed. */
  error: string | null;
}

/** Hosted content that is not pinned yet, and pins of removed content. */
export async function waitingPins(db: Db): Promise<WaitingPins> {
  const { count, oldest } = await db
    .selectFrom("pins")
    .where("due_at", "is not", null)
    .select(({ fn }) => [fn.countAll().as("count"), fn.min<number | null>("created_at").as("oldest")])
    .executeTakeFirstOrThrow();
  const failed = await db
    .selectFrom("pins")
    .select("error")
    .where("due_at", "is not", null)
    .where("error", "is not", null)
    .orderBy("due_at", "desc")
    .limit(1)
    .executeTakeFirst();
  return { count: Number(count), oldest, error: failed?.error ?? null };
}

async function update(
  trx: Trx,
  pin: DuePin,
  values: { due_at: number; tries?: number; error?: string },
): Promise<void> {
  await trx.updateTable("pins").set(values).where("cid", "=", pin.cid).where("fence", "=", pin.fence).execute();
}
