import { sql } from "kysely";

import { AT_ONCE, firstDue } from "../db/due.ts";
import { mayBeTried, namingRows, unparkRows } from "../db/parked-rows.ts";
import { type Db, rowSet, type Trx } from "../db/sql.ts";
import { ENDED, type UnderWay } from "../db/under-way.ts";

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

/** Content that is announced now. */
export interface DueAnnouncement {
  cid: string;
  /** Processes that died at it: see `LoneRuns`. */
  crashes: number;
}

/** What is due to be announced and not parked, longest due first. */
export function dueAnnouncements(db: Db, now: number, limit: number): Promise<(DueAnnouncement & UnderWay)[]> {
  return firstDue({ now, longestWait: ANNOUNCEMENT_HOLDS, limit }, (comparison, at, most) =>
    db
      .selectFrom("announcements")
      .select(["cid", "holder", "crashes"])
      .where("due_at", comparison, at)
      .where(mayBeTried("announcement", sql`cid`, now))
      .orderBy("due_at")
      .limit(most)
      .execute(),
  );
}

/** @param holder who announces them now; null: nobody does. */
export async function markAnnouncements(
  trx: Trx,
  taken: readonly DueAnnouncement[],
  holder: string | null,
): Promise<void> {
  if (taken.length === 0) return;
  const marks = taken.map(({ cid, crashes }) => ({ cid, crashes, holder }));
  const input = rowSet(trx, { cid: "text", holder: "text", crashes: "integer" }, marks);
  await namingRows(
    "announcements",
    marks.map(({ cid }) => cid),
    () =>
      sql`
      update announcements set holder = input.holder, crashes = input.crashes
        from ${input} as input where announcements.cid = input.cid`.execute(trx),
  );
}

export async function putOffAnnouncement(trx: Trx, cid: string, dueAt: number): Promise<void> {
  const update = trx.updateTable("announcements").set({ due_at: dueAt, ...ENDED });
  await namingRows("announcements", [cid], () => update.where("cid", "=", cid).execute());
  await unparkRows(trx, "announcement", [{ id: cid }]);
}

/** For content that is not hosted any more. */
export async function forgetAnnouncement(trx: Trx, cid: string): Promise<void> {
  await trx.deleteFrom("announcements").where("cid", "=", cid).execute();
  await unparkRows(trx, "announcement", [{ id: cid }]);
}
