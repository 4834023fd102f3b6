import { AT_ONCE, firstDue } from "../db/due.ts";
import { namingRows } from "../db/parked-rows.ts";
import type { Db, Trx } from "../db/sql.ts";

/** When an announcement is repeated, in milliseconds: two hours before the IPFS network forgets it. */
export const ANNOUNCEMENT_HOLDS = 22 * 3_600_000;

/**
 * Schedules the announcement of content on the IPFS network. It runs in the transaction that makes the content hosted, so a
 * crash cannot lose it. Without an IPFS node the announcement waits for one. Idempotent.
 */
export async function addAnnouncement(trx: Trx, cid: string): Promise<void> {
  await trx
    .insertInto("announcements")
    .values({ cid, due_at: AT_ONCE })
    .onConflict((conflict) => conflict.column("cid").doNothing())
    .execute();
}

/** What is due to be announced, longest due first. */
export function dueAnnouncements(db: Db, now: number, limit: number): Promise<{ cid: string }[]> {
  return firstDue({ now, longestWait: ANNOUNCEMENT_HOLDS, limit }, (comparison, at, most) =>
    db
      .selectFrom("announcements")
      .select("cid")
      .where("due_at", comparison, at)
      .orderBy("due_at")
      .limit(most)
      .execute(),
  );
}

export async function putOffAnnouncement(trx: Trx, cid: string, dueAt: number): Promise<void> {
  const update = trx.updateTable("announcements").set({ due_at: dueAt });
  await namingRows("announcements", [cid], () => update.where("cid", "=", cid).execute());
}

/** For content that is not hosted any more. */
export async function forgetAnnouncement(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("announcements").where("cid", "=", cid).execute();
}
