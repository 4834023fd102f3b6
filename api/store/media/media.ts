import type { Db, Trx } from "../db/engine.ts";

/** A file that the service hosts, by its CID (version 1, base 32). */
export interface StoredMedia {
  cid: string;
  /** Media type, detected from the first bytes. */
  type: string;
  size: number;
}

/** Idempotent. */
export async function insertMedia(trx: Trx, media: StoredMedia, now: number): Promise<void> {
  await trx
    .insertInto("media")
    .values({ ...media, created_at: now })
    .onConflict((conflict) => conflict.column("cid").doNothing())
    .execute();
}

export async function findMediaType(db: Db, cid: string): Promise<string | null> {
  const row = await db.selectFrom("media").select("type").where("cid", "=", cid).executeTakeFirst();
  return row?.type ?? null;
}
