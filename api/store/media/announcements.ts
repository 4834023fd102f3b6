import { AT_ONCE, whenDue } from "../db/due.ts";
import type { Db, Trx } from "../db/engine.ts";

/** Milliseconds for which the IPFS network keeps an announcement, less two hours for making it anew. */
export const ANNOUNCEMENT_HOLDS = 22 * 3_600_000;

/**
 * Has content announced on the IPFS network, in the transaction that makes it hosted, so that no crash can forget it.
 * Without a node of the service's own it waits for one. The same content again changes nothing.
 */
export async function addAnnouncement(trx: Trx, cid: string): Promise<void> {
  await trx
    .insertInto("announcements")
    .values({ cid, due_at: AT_ONCE })
    .onConflict((conflict) => conflict.column("cid").doNothing())
    .execute();
}

/** CIDs of what is to be announced (again) now, the longest due first. */
export async function dueAnnouncements(db: Db, now: number, limit: number): Promise<string[]> {
  const rows = await db
    .selectFrom("announcements")
    .select("cid")
    .where((eb) => whenDue(eb, eb.ref("due_at"), now, ANNOUNCEMENT_HOLDS))
    .orderBy("due_at")
    .limit(limit)
    .execute();
  return rows.map(({ cid }) => cid);
}

export async function putOffAnnouncement(trx: Trx, cid: string, dueAt: number): Promise<void> {
  await trx.updateTable("announcements").set({ due_at: dueAt }).where("cid", "=", cid).execute();
}

/** The content is not hosted any more. */
export async function forgetAnnouncement(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("announcements").where("cid", "=", cid).execute();
}
