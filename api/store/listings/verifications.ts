import { sql } from "kysely";

import { LONGEST_VERIFICATION_WAIT, type Verified } from "../../domain/verification.ts";
import { AT_ONCE, firstDue } from "../db/due.ts";
import { mayBeTried, unparkRows } from "../db/parked-rows.ts";
import { type Db, rowSet, type Trx } from "../db/sql.ts";

/*
 * Which collections a verifier is asked about, and when. Only one process asks: it has the lease `verifier`, so no row has a
 * lease of its own.
 */

/** A collection whose contract is to be verified. */
export interface DueVerification {
  address: string;
  /** Tries that failed. */
  tries: number;
}

/**
 * Makes collections due. It runs in the transaction that lists them, so a crash cannot lose one. Without a verifier they wait
 * for one. Idempotent.
 */
export async function addVerifications(trx: Trx, collections: readonly { address: string }[]): Promise<void> {
  if (collections.length === 0) return;
  const rows = collections.map(({ address }) => ({ address }));
  await sql`
    insert into verifications (address, state, due_at, tries)
    select address, 'waiting', ${AT_ONCE}, 0 from ${rowSet(trx, { address: "text" }, rows)} as input where true
    on conflict (address) do nothing`.execute(trx);
}

/** Collections that are due and not parked, longest due first. */
export function dueVerifications(db: Db, now: number, limit: number): Promise<DueVerification[]> {
  return firstDue({ now, longestWait: LONGEST_VERIFICATION_WAIT, limit }, (comparison, at, most) =>
    db
      .selectFrom("verifications")
      .select(["address", "tries"])
      .where("state", "=", "waiting")
      .where("due_at", comparison, at)
      .where(mayBeTried("verification", sql`address`, now))
      .orderBy("due_at")
      .limit(most)
      .execute(),
  );
}

/** The verifier has the sources. */
export async function finishVerification(
  trx: Trx,
  address: string,
  verified: Exclude<Verified, "failed">,
  now: number,
): Promise<void> {
  await end(trx, address, verified);
  await update(trx, address, { state: "verified", tried_at: now, error: null });
}

/** The last try has failed. */
export async function failVerification(trx: Trx, due: DueVerification, error: string, now: number): Promise<void> {
  await end(trx, due.address, "failed");
  await update(trx, due.address, { state: "failed", tries: due.tries + 1, tried_at: now, error });
}

/** @param counts whether this try counts. A verifier that limits the rate of calls says nothing about the collection. */
export async function putOffVerification(
  trx: Trx,
  due: DueVerification,
  { dueAt, counts, error, now }: { dueAt: number; counts: boolean; error: string; now: number },
): Promise<void> {
  const tries = due.tries + (counts ? 1 : 0);
  await update(trx, due.address, { due_at: dueAt, tries, tried_at: now, error });
  await unparkRows(trx, "verification", [{ id: due.address }]);
}

/** Makes collections due again whose verification has failed, at most `limit`. @returns how many. */
export async function retryFailedVerifications(trx: Trx, limit: number): Promise<number> {
  const failed = await trx
    .selectFrom("verifications")
    .select("address")
    .where("state", "=", "failed")
    .orderBy("due_at")
    .limit(limit)
    .execute();
  if (failed.length === 0) return 0;
  const found = sql`(select address from ${rowSet(trx, { address: "text" }, failed)} as input)`;
  await sql`update collections set verified = null where address in ${found}`.execute(trx);
  await sql`
    update verifications set state = 'waiting', due_at = ${AT_ONCE}, tries = 0
     where address in ${found} and state = 'failed'`.execute(trx);
  return failed.length;
}

async function update(
  trx: Trx,
  address: string,
  values: { state?: "verified" | "failed"; due_at?: number; tries?: number; tried_at: number; error: string | null },
): Promise<void> {
  await trx.updateTable("verifications").set(values).where("address", "=", address).execute();
}

async function end(trx: Trx, address: string, verified: Verified): Promise<void> {
  await trx.updateTable("collections").set({ verified }).where("address", "=", address).execute();
  await unparkRows(trx, "verification", [{ id: address }]);
}
