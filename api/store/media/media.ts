import { sql } from "kysely";

import { dayOf } from "../../domain/day.ts";
import { CounterDeltas, counterKeys, readCounter } from "../db/counters.ts";
import { type Db, rowSet, type Trx } from "../db/sql.ts";
import { addAnnouncement } from "./announcements.ts";
import { addPin } from "./pins.ts";

/** A file that the service hosts, by its CID (version 1, base 32). */
export interface StoredMedia {
  cid: string;
  /** Media type, detected from the first bytes. */
  type: string;
  size: number;
}

const COLUMNS = { cid: "text", type: "text", size: "integer" } as const;

/**
 * Records that content is hosted here, in the transaction that makes it so.
 * @param directories CIDs of directories.
 */
export async function hostContent(
  trx: Trx,
  media: readonly StoredMedia[],
  directories: readonly string[],
  now: number,
): Promise<void> {
  // The pins first: a garbage collection locks them before it removes the rest.
  for (const cid of [...directories, ...media.map((item) => item.cid)]) {
    await addPin(trx, cid, now);
    await addAnnouncement(trx, cid);
  }
  await insertMedia(trx, media, now);
}

/** Idempotent. */
export async function insertMedia(trx: Trx, media: readonly StoredMedia[], now: number): Promise<void> {
  if (media.length === 0) return;
  await sql`
    insert into media (cid, type, size, created_at)
    select cid, type, size, cast(${now} as bigint) from ${rowSet(trx, COLUMNS, media)} as input where true order by cid
    on conflict (cid) do nothing`.execute(trx);
}

/**
 * Adds files that were uploaded, or copied for a request, to the usage of their app. To the bytes that the app stores, it adds those of the
 * files that the app did not store before.
 */
export async function countCopied(trx: Trx, appId: string, media: readonly StoredMedia[], now: number): Promise<void> {
  if (media.length === 0) return;
  const { rows: added } = await sql<{ size: number }>`
    insert into app_media (cid, app_id, size)
    select cid, cast(${appId} as text), size from ${rowSet(trx, COLUMNS, media)} as input where true order by cid
    on conflict (cid, app_id) do nothing returning size`.execute(trx);
  const counters = new CounterDeltas();
  for (const { size } of media) counters.add(counterKeys.usage(appId, dayOf(now), "media_bytes"), size);
  for (const { size } of added) counters.add(counterKeys.mediaBytes(appId), size);
  await counters.flush(trx);
}

/** Whether the app stores the file already. */
export async function isStored(db: Db, appId: string, cid: string): Promise<boolean> {
  const row = await db
    .selectFrom("app_media")
    .select("cid")
    .where("cid", "=", cid)
    .where("app_id", "=", appId)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether content is hosted here: a file, or a directory. */
export async function isHosted(db: Db, cid: string): Promise<boolean> {
  const pin = db.selectFrom("pins").select("cid").where("cid", "=", cid).where("hosted", "=", 1);
  return (await pin.executeTakeFirst()) !== undefined;
}

/** The bytes that the app stores: each file that it uploaded or that was copied for it, once. */
export async function storedBytes(db: Db, appId: string): Promise<number> {
  return readCounter(db, counterKeys.mediaBytes(appId));
}

export async function findMediaType(db: Db, cid: string): Promise<string | null> {
  const row = await db.selectFrom("media").select("type").where("cid", "=", cid).executeTakeFirst();
  return row?.type ?? null;
}
