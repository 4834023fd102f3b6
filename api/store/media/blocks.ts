import { sql } from "kysely";

import { rowsAfter } from "../db/pages.ts";
import { type Db, forUpdate, rowSet, textSet, type Trx } from "../db/sql.ts";

/** The bytes of blocks in the database itself, one row for each object. */
export async function insertBytes(trx: Trx, object: string, bytes: Uint8Array): Promise<void> {
  await trx
    .insertInto("media_bytes")
    .values({ object, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
    .execute();
}

export async function readBytes(db: Db, object: string): Promise<Uint8Array | null> {
  const row = await db.selectFrom("media_bytes").select("bytes").where("object", "=", object).executeTakeFirst();
  return row?.bytes ?? null;
}

export async function deleteBytes(trx: Trx, objects: readonly string[]): Promise<void> {
  await sql`delete from media_bytes where object in ${textSet(trx, objects)}`.execute(trx);
}

/*
 * The index of blocks whose bytes are in objects: rows of the database, or objects in a bucket. `store` names the place, so
 * one database can have the indexes of two of them while content moves.
 */

/** A block, and the object that has its bytes. */
interface IndexedBlock {
  cid: string;
  object: string;
  size: number;
}

/** Value of `quarantine` once the removal of a block is final. Any other value is the id of a running collection. */
const REMOVED = "removed";
/** Rows read at once. */
const PAGE = 1_000;

export async function findBlock(db: Db, store: string, cid: string): Promise<IndexedBlock | null> {
  const row = await db
    .selectFrom("media_blocks")
    .select(["cid", "object", "size"])
    .where("store", "=", store)
    .where("cid", "=", cid)
    .where("quarantine", "is", null)
    .executeTakeFirst();
  return row ?? null;
}

/** Every block that can be read, in pages. */
export function indexedBlocks(db: Db, store: string): AsyncGenerator<IndexedBlock> {
  const read = (after: string) =>
    db
      .selectFrom("media_blocks")
      .select(["cid", "object", "size"])
      .where("store", "=", store)
      .where("cid", ">", after)
      .where("quarantine", "is", null)
      .orderBy("cid")
      .limit(PAGE)
      .execute();
  return rowsAfter("", read, ({ cid }) => cid);
}

/** Notes that a block was stored again, so that garbage collection keeps it. @returns null when it cannot be read. */
export async function touchBlock(trx: Trx, store: string, cid: string, now: number): Promise<IndexedBlock | null> {
  const row = await trx
    .updateTable("media_blocks")
    .set({ stored_at: now })
    .where("store", "=", store)
    .where("cid", "=", cid)
    .where("quarantine", "is", null)
    .returning(["cid", "object", "size"])
    .executeTakeFirst();
  return row ?? null;
}

/** Records an object before it is uploaded. If the upload is never recorded, the object is removed later. */
export async function announceObject(trx: Trx, store: string, object: string, now: number): Promise<void> {
  await trx.insertInto("media_unused_objects").values({ store, object, doomed: 0, created_at: now }).execute();
}

/**
 * Makes an uploaded object the bytes of a block. It takes the block out of a quarantine. An object that the block had before
 * is removed later.
 * @returns false when the announced object was given up meanwhile: it may be removed at any time.
 */
export async function recordBlock(trx: Trx, store: string, block: IndexedBlock, now: number): Promise<boolean> {
  const announced = await trx
    .deleteFrom("media_unused_objects")
    .where("store", "=", store)
    .where("object", "=", block.object)
    .where("doomed", "=", 0)
    .executeTakeFirst();
  if (announced.numDeletedRows !== 1n) return false;
  for (;;) {
    const inserted = await trx
      .insertInto("media_blocks")
      .values({ store, ...block, stored_at: now, quarantine: null })
      .onConflict((conflict) => conflict.columns(["store", "cid"]).doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 1n) return true;
    const search = trx
      .selectFrom("media_blocks")
      .select("object")
      .where("store", "=", store)
      .where("cid", "=", block.cid);
    const previous = await search.modifyEnd(forUpdate(trx)).executeTakeFirst();
    // A collection has removed it between the two statements.
    if (previous === undefined) continue;
    await doomObjects(trx, store, [previous.object], now);
    await trx
      .updateTable("media_blocks")
      .set({ object: block.object, size: block.size, stored_at: now, quarantine: null })
      .where("store", "=", store)
      .where("cid", "=", block.cid)
      .execute();
    return true;
  }
}

async function doomObjects(trx: Trx, store: string, objects: readonly string[], now: number): Promise<void> {
  const rows = objects.map((object) => ({ object }));
  await sql`
    insert into media_unused_objects (store, object, doomed, created_at)
    select ${store}, object, 1, ${now} from ${rowSet(trx, { object: "text" }, rows)} as input order by ord`.execute(
    trx,
  );
}

/** Gives up uploads that began before `before`. A process that is still busy with one cannot record it any more. */
export async function giveUpUploads(trx: Trx, store: string, before: number): Promise<void> {
  const late = trx.updateTable("media_unused_objects").set({ doomed: 1 }).where("store", "=", store);
  await late.where("doomed", "=", 0).where("created_at", "<", before).execute();
}

/** Objects that no block needs any more, a page at a time. Remove them, then forget them. */
export async function doomedObjects(db: Db, store: string): Promise<string[]> {
  const search = db
    .selectFrom("media_unused_objects")
    .select("object")
    .where("store", "=", store)
    .where("doomed", "=", 1);
  return (await search.limit(PAGE).execute()).map(({ object }) => object);
}

export async function forgetObjects(trx: Trx, store: string, objects: readonly string[]): Promise<void> {
  await sql`
    delete from media_unused_objects
     where store = ${store} and doomed = 1 and object in ${textSet(trx, objects)}`.execute(trx);
}

/** Ends a garbage collection of the store, or all of them, and restores their blocks. @returns how many blocks. */
export async function endCollections(trx: Trx, store: string, id: string | null = null): Promise<number> {
  const collections = trx.deleteFrom("media_collections").where("store", "=", store);
  await (id === null ? collections : collections.where("id", "=", id)).execute();
  const blocks = trx.updateTable("media_blocks").set({ quarantine: null }).where("store", "=", store);
  const theirs = blocks.where("quarantine", "is not", null).where("quarantine", "<>", REMOVED);
  const restored = await (id === null ? theirs : blocks.where("quarantine", "=", id)).executeTakeFirst();
  return Number(restored.numUpdatedRows);
}

/** Begins a collection, and ends any other: one at a time. */
export async function beginCollection(trx: Trx, store: string, id: string): Promise<void> {
  await endCollections(trx, store);
  await trx
    .insertInto("media_collections")
    .values({ store, id })
    .onConflict((conflict) => conflict.column("store").doUpdateSet({ id }))
    .execute();
}

/** Whether the collection was not ended by another process. Locks it until the transaction ends. */
async function isRunning(trx: Trx, store: string, id: string): Promise<boolean> {
  const search = trx.selectFrom("media_collections").select("id").where("store", "=", store).where("id", "=", id);
  return (await search.modifyEnd(forUpdate(trx)).executeTakeFirst()) !== undefined;
}

/**
 * Quarantines blocks that were not stored since `before`.
 * @returns those that were quarantined; null when another process has ended the collection.
 */
export async function quarantineBlocks(
  trx: Trx,
  collection: { store: string; id: string },
  cids: readonly string[],
  before: number,
): Promise<string[] | null> {
  const { store, id } = collection;
  if (!(await isRunning(trx, store, id))) return null;
  const { rows } = await sql<{ cid: string }>`
    update media_blocks set quarantine = ${id}
     where store = ${store} and quarantine is null and stored_at < ${before}
       and cid in ${textSet(trx, cids)}
    returning cid`.execute(trx);
  return rows.map(({ cid }) => cid);
}

export async function quarantinedBlocks(db: Db, store: string, id: string): Promise<string[]> {
  const search = db.selectFrom("media_blocks").select("cid").where("store", "=", store).where("quarantine", "=", id);
  return (await search.execute()).map(({ cid }) => cid);
}

/** Restores a block of the collection. @returns false when it is not in its quarantine. */
export async function restoreBlock(trx: Trx, store: string, id: string, cid: string): Promise<boolean> {
  const block = trx.updateTable("media_blocks").set({ quarantine: null }).where("store", "=", store);
  const restored = await block.where("quarantine", "=", id).where("cid", "=", cid).executeTakeFirst();
  return restored.numUpdatedRows > 0n;
}

/** Makes the removal of all quarantined blocks final. @returns false when another process has ended the collection. */
export async function confirmCollection(trx: Trx, store: string, id: string): Promise<boolean> {
  if (!(await isRunning(trx, store, id))) return false;
  const blocks = trx.updateTable("media_blocks").set({ quarantine: REMOVED }).where("store", "=", store);
  await blocks.where("quarantine", "=", id).execute();
  await trx.deleteFrom("media_collections").where("store", "=", store).where("id", "=", id).execute();
  return true;
}

/** Removes some of the blocks whose removal is final, and dooms their objects. @returns what was removed. */
export async function removeConfirmed(
  trx: Trx,
  store: string,
  limit: number,
  now: number,
): Promise<{ blocks: number; bytes: number }> {
  const { rows } = await sql<{ object: string; size: number }>`
    delete from media_blocks
     where store = ${store} and quarantine = ${REMOVED}
       and cid in (select cid from media_blocks where store = ${store} and quarantine = ${REMOVED} order by cid limit ${limit})
    returning object, size`.execute(trx);
  const objects = rows.map(({ object }) => object);
  if (objects.length > 0) await doomObjects(trx, store, objects, now);
  return { blocks: rows.length, bytes: rows.reduce((sum, { size }) => sum + size, 0) };
}
