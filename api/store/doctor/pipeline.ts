import { type RawBuilder, sql } from "kysely";

import type { QuarantineReason } from "../../domain/followed-contract.ts";
import type { Db } from "../db/sql.ts";

/** How the contracts that apps follow are doing. */
interface ContractHealth {
  followed: number;
  quarantined: { address: string; reason: QuarantineReason | null; until: number | null }[];
  /** Wallets whose tokens wait to be read from the chain, though their contract is not in quarantine. */
  waiting: number;
  /** When the longest waiting read was due; null when none waits. */
  oldest: number | null;
}

export async function contractHealth(db: Db): Promise<ContractHealth> {
  const { followed } = await db
    .selectFrom("foreign_contracts")
    .where("state", "=", "followed")
    .select(({ fn }) => fn.countAll().as("followed"))
    .executeTakeFirstOrThrow();
  const quarantined = await db
    .selectFrom("foreign_contracts")
    .select(["address", "reason", "due_at as until"])
    .where("state", "=", "quarantined")
    .orderBy("address")
    .execute();
  const { waiting, oldest } = await db
    .selectFrom("contract_reads as read")
    .innerJoin("foreign_contracts as contract", "contract.address", "read.contract")
    .where("read.due_at", "is not", null)
    .where("contract.state", "=", "followed")
    // A time of 0 means at once.
    .select(({ fn }) => [fn.countAll().as("waiting"), fn.min<number | null>("read.due_at").as("oldest")])
    .executeTakeFirstOrThrow();
  return { followed: Number(followed), quarantined, waiting: Number(waiting), oldest };
}

/** The length of a queue, and the age of its oldest item. */
interface Waiting {
  count: number;
  /** Milliseconds since 1970; null: the queue is empty. */
  oldest: number | null;
}

/** Requests that are in no transaction yet. */
export function unsentRequests(db: Db): Promise<Waiting> {
  return waitingIn(db, sql`"requests" where ready_at is not null`);
}

/** Signed batches that are unmined, as far as the indexer has read. */
export function openBatchesOf(db: Db, lane: number): Promise<Waiting> {
  return waitingIn(db, sql`"batches" where lane = ${lane} and status = 'open'`);
}

/** @param rows a part of a statement that begins after `from`. */
async function waitingIn(db: Db, rows: RawBuilder<unknown>): Promise<Waiting> {
  const query = sql<Waiting>`select count(*) as "count", min("created_at") as "oldest" from ${rows}`;
  return (await query.execute(db)).rows[0] ?? { count: 0, oldest: null };
}

/**
 * Deliveries with tries left. Overdue are those that a dispatcher should have sent before `overdueAt`. A delivery that waits
 * behind an earlier event of its request is not overdue: events of one request arrive in order.
 */
export async function waitingDeliveries(db: Db, overdueAt: number): Promise<Waiting & { overdue: number }> {
  const waiting = await waitingIn(db, sql`"deliveries" where status = 'pending'`);
  const overdue = await db
    .selectFrom("deliveries")
    .innerJoin("webhooks", "webhooks.app_id", "deliveries.app_id")
    .select((eb) => eb.fn.countAll().as("count"))
    .where("deliveries.next_at", "<", overdueAt)
    .where("deliveries.updated_at", "<", overdueAt)
    .where("webhooks.disabled_at", "is", null)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom("deliveries as earlier")
            .select("earlier.seq")
            .whereRef("earlier.request_id", "=", "deliveries.request_id")
            .whereRef("earlier.seq", "<", "deliveries.seq")
            .where("earlier.status", "=", sql.lit("pending")),
        ),
      ),
    )
    .executeTakeFirstOrThrow();
  return { ...waiting, overdue: Number(overdue.count) };
}

/** The collections whose verification was tried last, newest first. @returns why each try failed; null: it succeeded. */
export function newestVerifications(db: Db, limit: number): Promise<{ address: string; error: string | null }[]> {
  return db
    .selectFrom("verifications")
    .select(["address", "error"])
    .where("tried_at", "is not", null)
    .orderBy("tried_at", "desc")
    .limit(limit)
    .execute();
}
