import { type Db, forShare, forUpdate, type Trx } from "../db/sql.ts";
import { deleteMeta, readMeta, writeMeta } from "../db/meta.ts";

/** Where the content is, and from where it is still being copied. */
interface MediaPlace {
  /** The name of the block store; null before the first start of the service. */
  store: string | null;
  /** The name of the store that a move has not copied completely; null: no move is unfinished. */
  movingFrom: string | null;
}

const FILES = "files";

export async function readMediaPlace(db: Db): Promise<MediaPlace> {
  const movingFrom = await readMeta(db, "media_moving_from");
  const store = await readMeta(db, "media_store");
  if (store !== null) return { store, movingFrom };
  // Content of a version without the setting is in files.
  return { store: (await hasContent(db)) ? FILES : null, movingFrom };
}

/**
 * Processes with the old setting may still run when `media move` has switched to another store: they must record nothing.
 * On PostgreSQL, a switch waits until this transaction has ended. A row of its own is locked: a lock needs the right to change the
 * row, and processes that copy media may not change `meta`.
 * @param store name of the block store that this process writes to.
 * @returns why content in it cannot be recorded, and what to do; null when it can.
 */
export async function mediaStoreProblem(trx: Trx, store: string): Promise<string | null> {
  await trx.selectFrom("media_store_lock").select("id").modifyEnd(forShare(trx)).execute();
  const now = await readMeta(trx, "media_store");
  if (now === null || now === store) return null;
  return `Hosted media were moved from ${store} to ${now}: set MEDIA_STORE and restart this process`;
}

/** Whether any content is hosted. */
export async function hasContent(db: Db): Promise<boolean> {
  const hosted = await db.selectFrom("pins").select("cid").where("hosted", "=", 1).limit(1).executeTakeFirst();
  return hosted !== undefined;
}

/** The first start of the service with a store, or a change while there is no content. */
export async function chooseMediaStore(trx: Trx, store: string): Promise<void> {
  await lockMediaStore(trx);
  await writeMeta(trx, "media_store", store);
}

async function lockMediaStore(trx: Trx): Promise<void> {
  await trx.selectFrom("media_store_lock").select("id").modifyEnd(forUpdate(trx)).execute();
}

/** From now on, new content goes to `to`. What came to `from` until now is copied afterwards. */
export async function switchMediaStore(trx: Trx, from: string, to: string): Promise<void> {
  await lockMediaStore(trx);
  await writeMeta(trx, "media_store", to);
  await writeMeta(trx, "media_moving_from", from);
}

export async function finishMediaMove(trx: Trx): Promise<void> {
  await deleteMeta(trx, "media_moving_from");
}
