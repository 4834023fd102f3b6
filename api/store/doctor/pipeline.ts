import { sql } from "kysely";

import type { Db } from "../db/engine.ts";

/** How much there is of something that waits, and since when. */
export interface Waiting {
  count: number;
  /** Milliseconds since 1970, or null when there is none. */
  oldest: number | null;
}

/** Requests that no transaction carries yet. */
export async function unsentRequests(db: Db): Promise<Waiting> {
  const ready = await db
    .selectFrom("requests")
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("created_at").as("oldest")])
    .where("ready_at", "is not", null)
    .executeTakeFirstOrThrow();
  return { count: Number(ready.count), oldest: ready.oldest };
}

/** Signed batches that no block is known to hold. */
export async function openBatchesOf(db: Db, lane: number): Promise<Waiting> {
  const open = await db
    .selectFrom("batches")
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("created_at").as("oldest")])
    .where("lane", "=", lane)
    .where("status", "=", "open")
    .executeTakeFirstOrThrow();
  return { count: Number(open.count), oldest: open.oldest };
}

/** Deliveries with tries left, and those of them that are due since before `overdueAt`: nobody takes them. */
export async function waitingDeliveries(db: Db, overdueAt: number): Promise<Waiting & { overdue: number }> {
  const waiting = await db
    .selectFrom("deliveries")
    .select((eb) => [eb.fn.countAll().as("count"), eb.fn.min("created_at").as("oldest")])
    .where("status", "=", sql.lit("pending"))
    .executeTakeFirstOrThrow();
  const overdue = await db
    .selectFrom("deliveries")
    .innerJoin("webhooks", "webhooks.app_id", "deliveries.app_id")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("deliveries.next_at", "<", overdueAt)
    .where("deliveries.updated_at", "<", overdueAt)
    .where("webhooks.disabled_at", "is", null)
    .executeTakeFirstOrThrow();
  return { count: Number(waiting.count), oldest: waiting.oldest, overdue: Number(overdue.count) };
}
