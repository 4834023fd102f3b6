import { sql } from "kysely";
import { z } from "zod";

import type { PipelineReasons, StoredReason } from "../../domain/waiting-for.ts";
import { LeaseLost } from "../../shared/lease.ts";
import type { Db, Trx } from "../db/sql.ts";
import type { LaneRow } from "../db/schema.ts";
import { readMeta, writeMeta } from "../db/meta.ts";
import { countProcesses } from "../db/presence.ts";
import { isFree } from "../db/work-lease.ts";

/** The right to use a lane. It is valid while the row has this fencing token. */
export interface Lease {
  lane: number;
  holder: string;
  fence: number;
}

/** Adds the lane's row at its first use. @param nextNonce the nonce on chain. */
export async function ensureLane(trx: Trx, lane: number, address: string, nextNonce: number): Promise<void> {
  await trx
    .insertInto("lanes")
    .values({ lane, address, next_nonce: nextNonce, lease_holder: null, lease_fence: 0, lease_until: 0 })
    .onConflict((conflict) => conflict.column("lane").doNothing())
    .execute();
}

export async function readLane(db: Db, lane: number): Promise<LaneRow | undefined> {
  return db.selectFrom("lanes").selectAll().where("lane", "=", lane).executeTakeFirst();
}

export async function allLanes(db: Db): Promise<LaneRow[]> {
  return db.selectFrom("lanes").selectAll().orderBy("lane").execute();
}

const nonces = z.record(z.string(), z.number());

/** By address, what the lanes had sent when the operator said that this is a new installation with an old seed. */
export async function reusedNonces(db: Db): Promise<Map<string, number>> {
  const stored = await readMeta(db, "reused_lanes");
  return new Map(stored === null ? [] : Object.entries(nonces.parse(JSON.parse(stored))));
}

/** @returns false, and nothing is stored, when the database has used a lane. */
export async function reuseLanes(trx: Trx, used: ReadonlyMap<string, number>): Promise<boolean> {
  if ((await allLanes(trx)).length > 0) return false;
  await writeMeta(trx, "reused_lanes", JSON.stringify(Object.fromEntries(used)));
  return true;
}

/** The first nonce that this database used in each lane, or will use, by the lane's address. */
export async function firstNonces(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom("lanes")
    .select(["address", "next_nonce"])
    .select((eb) =>
      eb
        .selectFrom("batches")
        .whereRef("batches.lane", "=", "lanes.lane")
        .select(({ fn }) => fn.min<number | null>("batches.nonce").as("nonce"))
        .as("first"),
    )
    .execute();
  return new Map(rows.map((row) => [row.address, row.first ?? row.next_nonce]));
}

/** Whether the lane has work to finish: unmined batches, or claimed requests. */
export async function hasBegun(db: Db, lane: number): Promise<boolean> {
  // "open" is a literal, so that PostgreSQL's plan for all lanes can use the index of open batches.
  const open = db.selectFrom("batches").select("lane").where("lane", "=", lane).where("status", "=", sql.lit("open"));
  const claimed = db.selectFrom("requests").select("lane").where("lane", "=", lane).where("batch_id", "is", null);
  const found = await db
    .selectNoFrom((eb) => eb.or([eb.exists(open), eb.exists(claimed)]).as("begun"))
    .executeTakeFirstOrThrow();
  // SQLite returns 0 or 1.
  return Boolean(found.begun);
}

/**
 * Takes the lease of a lane that is free, whose lease has expired, or whose holder has ended.
 * @param isGone whether the holder is known to have ended.
 * @returns null when another process holds the lane.
 */
export async function takeLease(
  trx: Trx,
  lane: number,
  holder: string,
  time: { now: number; lasts: number },
  isGone: (holder: string) => boolean,
): Promise<Lease | null> {
  const current = await readLane(trx, lane);
  if (current === undefined) return null;
  if (!isFree({ holder: current.lease_holder, until: current.lease_until }, time, isGone)) return null;
  const fence = current.lease_fence + 1;
  const updated = await trx
    .updateTable("lanes")
    .set({ lease_holder: holder, lease_fence: fence, lease_until: time.now + time.lasts })
    .where("lane", "=", lane)
    .where("lease_fence", "=", current.lease_fence)
    .executeTakeFirst();
  return updated.numUpdatedRows === 1n ? { lane, holder, fence } : null;
}

/** Extends the lease. @throws LeaseLost */
export async function renewLease(trx: Trx, lease: Lease, until: number): Promise<void> {
  await update(trx, lease, { lease_until: until });
}

async function update(
  trx: Trx,
  { lane, fence }: Lease,
  values: { lease_until: number } | { lease_holder: string } | { waiting_for: StoredReason | null },
): Promise<void> {
  const updated = await trx
    .updateTable("lanes")
    .set(values)
    .where("lane", "=", lane)
    .where("lease_fence", "=", fence)
    .executeTakeFirst();
  if (updated.numUpdatedRows !== 1n) throw new LeaseLost(`lane ${lane.toString()} was taken over`);
}

/** Checks the lease. This is the first statement of every write of a lane that decides something. @throws LeaseLost */
export async function holdLease(trx: Trx, lease: Lease): Promise<void> {
  // An update locks the row on every engine: a takeover waits for this transaction.
  await update(trx, lease, { lease_holder: lease.holder });
}

/** Stores what keeps the lane from sending; null: nothing. @throws LeaseLost */
export async function storeReason(trx: Trx, lease: Lease, waitingFor: StoredReason | null): Promise<void> {
  await update(trx, lease, { waiting_for: waitingFor });
}

/**
 * Releases the lane, so that the next process need not wait for the lease to expire.
 * @param waitingFor what keeps it from sending; null: it stops for no such reason.
 */
export async function releaseLease(trx: Trx, lease: Lease, waitingFor: StoredReason | null = null): Promise<void> {
  await trx
    .updateTable("lanes")
    .set({ lease_holder: null, lease_until: 0, waiting_for: waitingFor })
    .where("lane", "=", lease.lane)
    .where("lease_fence", "=", lease.fence)
    .execute();
}

/**
 * What the processes that send and follow requests have stored about themselves.
 * @param lanes the lanes of the settings. @param presence milliseconds for which a process says that it runs.
 */
export async function readReasons(
  db: Db,
  { lanes, now, presence }: { lanes: readonly number[]; now: number; presence: number },
): Promise<PipelineReasons> {
  const rows = await allLanes(db);
  const batches = await db
    .selectFrom("batches")
    .select(["id", "lane", "created_at as createdAt"])
    .where("status", "=", sql.lit("open"))
    .execute();
  return {
    isSending: (await countProcesses(db, "relayer", { now, lasts: presence, within: presence })) > 0,
    lanes: rows.map(({ lane, waiting_for: waitingFor }) => ({
      waitingFor,
      inUse: lanes.includes(lane),
      unmined: batches.filter((batch) => batch.lane === lane),
    })),
    indexer: (await readMeta(db, "indexer_waits_for")) as StoredReason | null,
  };
}
