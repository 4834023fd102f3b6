import { LeaseLost } from "../../shared/lease.ts";
import { isDue } from "./due.ts";
import type { Db, Trx } from "./engine.ts";

/** Work that exactly one process does at a time. */
export type LeaseName = "indexer" | "announcer" | "pruner" | "media_collector";

/** The right to do the work. It is valid while the row has this fencing token. */
export interface HeldLease {
  name: LeaseName;
  holder: string;
  fence: number;
}

interface LeaseTime {
  now: number;
  lasts: number;
}

/** Whether the lease can be taken: nobody has it, it has expired, or its holder has ended. */
export async function isLeaseFree(
  db: Db,
  name: LeaseName,
  time: LeaseTime,
  isGone: (holder: string) => boolean,
): Promise<boolean> {
  const row = await db.selectFrom("leases").selectAll().where("name", "=", name).executeTakeFirst();
  return row === undefined || row.holder === null || isDue(row.until, time.now, time.lasts) || isGone(row.holder);
}

/**
 * Takes a lease that is free.
 * @param isGone whether the holder is known to have ended.
 * @returns null when another process has it.
 */
export async function takeNamedLease(
  trx: Trx,
  name: LeaseName,
  holder: string,
  time: LeaseTime,
  isGone: (holder: string) => boolean,
): Promise<HeldLease | null> {
  await trx
    .insertInto("leases")
    .values({ name, holder: null, fence: 0, until: 0 })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
  if (!(await isLeaseFree(trx, name, time, isGone))) return null;
  const { fence } = await trx.selectFrom("leases").select("fence").where("name", "=", name).executeTakeFirstOrThrow();
  const taken = await trx
    .updateTable("leases")
    .set({ holder, fence: fence + 1, until: time.now + time.lasts })
    .where("name", "=", name)
    .where("fence", "=", fence)
    .executeTakeFirst();
  return taken.numUpdatedRows === 1n ? { name, holder, fence: fence + 1 } : null;
}

/** Extends the lease. @throws LeaseLost */
export async function renewNamedLease(trx: Trx, lease: HeldLease, until: number): Promise<void> {
  await update(trx, lease, { until });
}

/**
 * Checks the lease. This is the first statement of every write that it protects. It locks the row on every engine, so a
 * takeover waits for this transaction. @throws LeaseLost
 */
export async function holdNamedLease(trx: Trx, lease: HeldLease): Promise<void> {
  await update(trx, lease, { holder: lease.holder });
}

/** Releases the lease, so that the next process need not wait until it expires. */
export async function releaseNamedLease(trx: Trx, lease: HeldLease): Promise<void> {
  await trx
    .updateTable("leases")
    .set({ holder: null, until: 0 })
    .where("name", "=", lease.name)
    .where("fence", "=", lease.fence)
    .execute();
}

/** Releases the lease, because the work is done for now. @throws LeaseLost */
export async function finishNamedLease(trx: Trx, lease: HeldLease, now: number): Promise<void> {
  await update(trx, lease, { holder: null, until: 0, done_at: now });
}

/** When the work was done last, in milliseconds since 1970; null: never. */
export async function lastDoneOf(db: Db, name: LeaseName): Promise<number | null> {
  const row = await db.selectFrom("leases").select("done_at").where("name", "=", name).executeTakeFirst();
  return row?.done_at ?? null;
}

async function update(
  trx: Trx,
  lease: HeldLease,
  values: { until: number } | { holder: string } | { holder: null; until: 0; done_at: number },
): Promise<void> {
  const updated = await trx
    .updateTable("leases")
    .set(values)
    .where("name", "=", lease.name)
    .where("fence", "=", lease.fence)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw new LeaseLost(`another process has taken over: ${lease.name}`);
}
